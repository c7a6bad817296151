import { newId } from '../builders.js';
import type { TransportSuite } from '../transport-suite.js';
import { newMessage } from '../transport-under-test.js';

/** Whether messages of a cancelled run are dropped is the adapter's choice: all that counts is that no others are. */
export function describeTransportCancels({ it, expect }: TransportSuite): void {
  it('JOB-3: messages of other runs stay when a run is cancelled', async (on) => {
    const [runId, other] = [newId(), newMessage()];
    await on.transport.send([newMessage({ runId }), other, newMessage({ runId })]);
    await on.transport.cancelByRun(runId);
    await on.start();
    await on.handled.begun([other]);
  });

  it('CANCEL-3: the call of a cancel hook stays when its run is cancelled', async (on) => {
    const runId = newId();
    const hook = newMessage({ runId, kind: 'cancel' });
    await on.transport.send([newMessage({ runId }), hook]);
    await on.transport.cancelByRun(runId);
    await on.start();
    await on.handled.begun([hook]);
  });

  it('JOB-3: what is sent after a run was cancelled is delivered: it was retried', async (on) => {
    const runId = newId();
    const message = newMessage({ runId });
    await on.start();
    await on.transport.send([message]);
    await on.transport.cancelByRun(runId);
    const [again, next] = [{ ...message }, newMessage({ runId, attempt: 2 })];
    const both = Promise.all([on.handled.begun([again]), on.handled.begun([next])]);
    await on.transport.send([again, next]);
    await both;
  });

  it('JOB-3: cancelling a run that has no messages, or twice, or from two processes, resolves', async (on) => {
    const runId = newId();
    await on.transport.cancelByRun(runId);
    await Promise.all([on.transport.cancelByRun(runId), on.second.cancelByRun(runId)]);
    expect(on.handled.messages).toHaveLength(0);
  });
}
