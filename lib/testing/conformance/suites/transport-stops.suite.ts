import type { TransportSuite } from '../transport-suite.js';
import { newGate, newMessage, type TransportUnderTest } from '../transport-under-test.js';

/** Longer than any test lasts: a stop that waits for it has failed. */
const LONG_MS = 600_000;

/** A handler of the first process that does not end before the gate is opened. */
async function busy(on: TransportUnderTest) {
  const gate = newGate();
  const message = newMessage();
  on.handled.during = () => gate.opened;
  await on.start({ concurrency: 1 });
  await on.transport.send([message]);
  await on.handled.begun([message]);
  return { gate, message };
}

export function describeTransportStops({ it, expect }: TransportSuite): void {
  it('JOB-3: started twice it takes no more at once than started once', async (on) => {
    const messages = Array.from({ length: 6 }, () => newMessage());
    on.handled.during = () => new Promise((resolve) => setImmediate(resolve));
    await Promise.all([on.start({ concurrency: 1 }), on.start({ concurrency: 1 })]);
    await on.start({ concurrency: 1 });
    await on.transport.send(messages);
    await on.handled.begun(messages);
    expect(on.handled.most).toBe(1);
  });

  it('LEASE-6: stop waits for the handler under way, within its grace', async (on) => {
    const { gate } = await busy(on);
    let stopped = false;
    const stopping = on.stop(LONG_MS).then(() => (stopped = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(stopped).toBe(false);
    gate.open();
    await stopping;
    expect(on.handled.running).toBe(0);
  });

  it('LEASE-6: stop does not wait longer than its grace', async (on) => {
    const { gate } = await busy(on);
    await on.stop(1);
    expect(on.handled.running).toBe(1);
    gate.open();
  });

  it('LEASE-6: from the moment of stop it takes nothing; what is left goes to others', async (on) => {
    const { gate, message } = await busy(on);
    const [waiting, late] = [newMessage(), newMessage()];
    await on.transport.send([waiting]);
    const stopping = on.stop(LONG_MS);
    await on.second.send([late]);
    gate.open();
    await stopping;
    await on.startSecond();
    await on.handledBySecond.begun([waiting, late]);
    expect(on.handled.messages.map(({ id }) => id)).toEqual([message.id]);
  });

  it('LEASE-6: a send under way when stop is called is not lost', async (on) => {
    const message = newMessage();
    const sending = on.transport.send([message]);
    await on.stop();
    await sending;
    await on.startSecond();
    await on.handledBySecond.begun([message]);
  });

  it('LEASE-6: stopped twice, and without a start, it resolves', async (on) => {
    await on.start();
    await Promise.all([on.stop(), on.stop()]);
    await on.stop();
    await on.second.stop(LONG_MS);
    expect(on.handled.messages).toHaveLength(0);
  });
}
