import { ClsScope, ContextRunner, WorkflowContext } from '../../../lib/context/index.js';
import type { WorkflowEvent } from '../../../lib/interfaces/index.js';
import { EmitterBridge } from '../../../lib/services/events/emitter-bridge.js';
import { EventDispatcher, type EventHandler } from '../../../lib/services/events/event-dispatcher.js';
import { EventStream } from '../../../lib/services/events/event-stream.js';
import { cls } from './service-kit.js';

const scope = new ClsScope(cls);
const current = new WorkflowContext(scope);
const run = { id: 'run-1', definition: 'greet', version: 1 };
const event = { id: '1.0', type: 'run:completed', run, data: {} } as unknown as WorkflowEvent;
const dispatched = { event, context: { ownerId: 'team-a', actor: null, run, trace: null } };

function dispatcherOf(handlers: Record<string, (event: WorkflowEvent) => unknown>, emitter?: object) {
  const stream = new EventStream();
  const list: EventHandler[] = Object.entries(handlers).map(([name, handle]) => ({
    name,
    types: new Set(['run:completed']),
    handle,
  }));
  const dispatcher = new EventDispatcher(
    new ContextRunner(scope),
    () => list,
    stream,
    new EmitterBridge(() => emitter as never),
  );
  return { dispatcher, stream };
}

describe('EventDispatcher', () => {
  it('EVT-1: calls every handler of the type in the context of the run, then the stream', async () => {
    const log: unknown[] = [];
    const { dispatcher, stream } = dispatcherOf({
      a: () => log.push(['a', current.currentOwnerId(), current.currentRun()?.id]),
      b: async () => log.push(['b', current.currentOwnerId()]),
    });
    stream.events().subscribe(({ id }) => log.push(id));
    await dispatcher.deliver(dispatched);
    expect(log).toEqual([['a', 'team-a', 'run-1'], ['b', 'team-a'], '1.0']);
    expect(scope.active).toBe(false);
  });

  it('EVT-1: a failing handler fails the delivery, and only it hears the event again', async () => {
    const calls: string[] = [];
    let broken = true;
    const { dispatcher, stream } = dispatcherOf({
      a: () => calls.push('a'),
      b: () => {
        calls.push('b');
        if (broken) throw new Error('down');
      },
      c: () => calls.push('c'),
    });
    stream.events().subscribe(() => calls.push('stream'));
    await expect(dispatcher.deliver(dispatched)).rejects.toThrow('down');
    broken = false;
    await dispatcher.deliver(dispatched);
    expect(calls).toEqual(['a', 'b', 'c', 'stream', 'b']);
  });

  it('EVT-1: an event that was delivered and comes again, after a crash of another process, is heard again', async () => {
    const calls: string[] = [];
    const { dispatcher } = dispatcherOf({ a: () => calls.push('a') });
    await dispatcher.deliver(dispatched);
    await dispatcher.deliver(dispatched);
    expect(calls).toEqual(['a', 'a']);
  });

  it('EVT-1: a handler that hangs does not make the others hear the event twice', async () => {
    const calls: string[] = [];
    const { dispatcher } = dispatcherOf({
      a: () => calls.push('a'),
      b: () => (calls.push('b'), new Promise(() => undefined)),
    });
    void dispatcher.deliver(dispatched);
    await new Promise((resolve) => setImmediate(resolve));
    void dispatcher.deliver(dispatched);
    await new Promise((resolve) => setImmediate(resolve));
    expect(calls).toEqual(['a', 'b', 'b']);
  });

  it('EVT-1: the emitter of the host is told by name, and what its listeners throw is tried again', async () => {
    const emitAsync = jest.fn().mockRejectedValueOnce(new Error('listener')).mockResolvedValue([]);
    const { dispatcher } = dispatcherOf({}, { emitAsync, hasListeners: () => true });
    await expect(dispatcher.deliver(dispatched)).rejects.toThrow('listener');
    await dispatcher.deliver(dispatched);
    expect(emitAsync.mock.calls).toEqual([
      ['workflow.run:completed', event],
      ['workflow.run:completed', event],
    ]);
  });

  it.each([
    ['nobody', {}, undefined, false],
    ['a handler', { a: () => undefined }, undefined, true],
    ['an emitter that nobody listens to', {}, { hasListeners: () => false }, false],
    ['an emitter', {}, { hasListeners: () => true }, true],
  ])('EVT-1: with %s hasListeners is right', (_case, handlers, emitter, expected) => {
    expect(dispatcherOf(handlers, emitter).dispatcher.hasListeners).toBe(expected);
  });

  it('EVT-1: a subscriber of the stream counts as a listener, and is completed at the end', () => {
    const { dispatcher, stream } = dispatcherOf({});
    const complete = jest.fn();
    stream.events().subscribe({ complete });
    expect(dispatcher.hasListeners).toBe(true);
    stream.complete();
    expect(complete).toHaveBeenCalled();
  });
});
