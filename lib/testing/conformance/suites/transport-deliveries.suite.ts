import type { TransportSuite } from '../transport-suite.js';
import { newGate, newMessage } from '../transport-under-test.js';

/** Lets other handlers begin, if the transport allows them to. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function describeTransportDeliveries({ it, expect }: TransportSuite): void {
  it('JOB-3: a message that is sent is handled, whole', async (on) => {
    const message = newMessage({ queue: 'mail', priority: -3, attempt: 2 });
    const hook = newMessage({ kind: 'cancel', stageRunId: message.stageRunId });
    await on.start();
    await on.transport.send([message, hook]);
    await on.handled.begun([message, hook]);
    for (const sent of [message, hook])
      expect(on.handled.messages.find((handled) => handled.id === sent.id)).toEqual(sent);
  });

  it('JOB-3: messages that were sent before start are handled after it', async (on) => {
    const messages = [newMessage(), newMessage()];
    await on.transport.send(messages);
    await on.start();
    await on.handled.begun(messages);
  });

  it('JOB-3: a process handles what another one sent, which takes nothing itself', async (on) => {
    const message = newMessage();
    await on.start();
    await on.second.send([message]);
    await on.handled.begun([message]);
  });

  it('JOB-3: many messages in one call are all handled', async (on) => {
    const messages = Array.from({ length: 300 }, () => newMessage());
    await Promise.all([on.start(), on.startSecond()]);
    const both = messages.map((message) =>
      Promise.race([on.handled.begun([message]), on.handledBySecond.begun([message])]),
    );
    await on.transport.send(messages);
    await Promise.all(both);
  });

  it('JOB-3: no messages are no trouble', async (on) => {
    await on.transport.send([]);
    expect(on.handled.messages).toHaveLength(0);
  });

  it('JOB-5: the time a handler takes is its own: others are handled beside it, up to the concurrency', async (on) => {
    const messages = Array.from({ length: 12 }, () => newMessage());
    const three = newGate();
    on.handled.during = async () => {
      if (on.handled.running === 3) three.open();
      await three.opened;
      await turn();
    };
    await on.start({ concurrency: 3 });
    await on.transport.send(messages);
    await on.handled.begun(messages);
    expect(on.handled.most).toBe(3);
  });

  it('RUN-6: a process is given messages of the queues it serves, the others are left to others', async (on) => {
    const [fast, slow] = [newMessage({ queue: 'fast' }), newMessage({ queue: 'slow' })];
    await on.start({ queues: ['fast'] });
    await on.transport.send([slow, fast]);
    await on.handled.begun([fast]);
    await on.startSecond({ queues: ['slow', 'other'] });
    await on.handledBySecond.begun([slow]);
    expect(on.handled.count(slow)).toBe(0);
    expect(on.handledBySecond.count(fast)).toBe(0);
  });

  it('JOB-5: a handler that rejects holds up nobody, and its message may be sent again', async (on) => {
    const [bad, good] = [newMessage(), newMessage()];
    on.handled.during = ({ id }) => {
      if (id === bad.id && on.handled.count(bad) === 1) throw new Error('It could not be handled.');
    };
    await on.start({ concurrency: 1 });
    await on.transport.send([bad]);
    await on.handled.begun([bad]);
    await on.transport.send([good]);
    await on.handled.begun([good]);
    // Either the transport tries it again by itself, or it is another message.
    const again = on.handled.count(bad) > 1 ? Promise.resolve() : on.handled.begun([bad], true);
    await on.transport.send([bad]);
    await again;
  });

  it('JOB-5: a message whose id was handled before is handled again when it is sent again', async (on) => {
    const [message, other] = [newMessage(), newMessage()];
    await on.start({ concurrency: 1 });
    await on.transport.send([message]);
    await on.handled.begun([message]);
    // One at a time: when the next begins, the first is through.
    await on.transport.send([other]);
    await on.handled.begun([other]);
    const again = on.handled.begun([message], true);
    await on.transport.send([message]);
    await again;
  });

  it('JOB-3: a message that is sent twice while nobody takes it is handled, once or twice', async (on) => {
    const message = newMessage();
    await on.transport.send([message, message]);
    await on.second.send([message]);
    await on.start();
    await on.handled.begun([message]);
  });
}
