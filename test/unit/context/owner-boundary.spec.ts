import { AsyncLocalStorage } from 'node:async_hooks';
import { ClsServiceManager } from 'nestjs-cls';
import {
  ClsScope,
  ContextRunner,
  OwnerBoundary,
  outsideOfRequests,
  WorkflowContext,
} from '../../../lib/context/index.js';
import type { OwnerContext } from '../../../lib/interfaces/index.js';

const MISUSED = { code: 'OWNER_CONTEXT_MISUSED' };

/** A boundary of a host whose context does this. */
const boundary = (run: (owner: { id: string | null }, fn: () => Promise<any>) => any): OwnerBoundary => {
  const context: OwnerContext = { run };
  return new OwnerBoundary(() => context);
};

/** Settles when it is told to. */
function held<T>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}

describe('OwnerBoundary', () => {
  it('OWNER-2: resolves with what the function came to, whatever the host returns', async () => {
    const owners: unknown[] = [];
    const within = boundary(async (owner, fn) => {
      owners.push(owner);
      await fn();
      return 'mine';
    });
    expect(await within.run('a', async () => 'ours')).toBe('ours');
    expect(await within.run(null, async () => 0)).toBe(0);
    expect(owners).toEqual([{ id: 'a' }, { id: null }]);
  });

  it('OWNER-2: what the function throws is not swallowed, nor changed', async () => {
    const error = new Error('of the body');
    const fails = (): Promise<never> => Promise.reject(error);
    await expect(boundary((_, fn) => fn().catch(() => null)).run('a', fails)).rejects.toBe(error);
    const wraps = boundary((_, fn) => fn().catch(() => Promise.reject(new Error('something failed'))));
    await expect(wraps.run('a', fails)).rejects.toBe(error);
  });

  it('OWNER-2: what the host throws is what is thrown, before the function and after it', async () => {
    const error = new Error('no such schema');
    const called = jest.fn(async () => 1);
    const before = boundary(() => {
      throw error;
    });
    await expect(before.run('a', called)).rejects.toBe(error);
    expect(called).not.toHaveBeenCalled();
    const after = boundary(async (_, fn) => {
      await fn();
      throw error;
    });
    await expect(after.run('a', called)).rejects.toBe(error);
    expect(called).toHaveBeenCalledTimes(1);
  });

  it('OWNER-2: a function that the host does not await is waited for', async () => {
    const { promise, resolve } = held<string>();
    const done = boundary((_, fn) => void fn()).run('a', () => promise);
    let over = false;
    void done.then(() => (over = true));
    await new Promise((next) => setImmediate(next));
    expect(over).toBe(false);
    resolve('late');
    expect(await done).toBe('late');
  });

  it('OWNER-2: a host that never calls it is told so, and may not call it later', async () => {
    let late!: () => Promise<unknown>;
    const called = jest.fn(async () => 1);
    const within = boundary((_, fn) => void (late = fn));
    await expect(within.run('a', called)).rejects.toMatchObject({
      ...MISUSED,
      params: { owner: 'a', how: 'not at all' },
    });
    await expect(within.run(null, called)).rejects.toThrow('was given not at all. Let its run(owner, fn)');
    await expect(late()).rejects.toMatchObject({ ...MISUSED, params: { how: 'too late' } });
    expect(called).not.toHaveBeenCalled();
  });

  it('OWNER-2: a host that calls it twice is told so; the second time nothing is done', async () => {
    const error = new Error('the first time');
    const called = jest.fn().mockRejectedValue(error);
    const within = boundary((_, fn) => fn().catch(() => fn()));
    await expect(within.run('a', called)).rejects.toMatchObject({
      ...MISUSED,
      params: { owner: 'a', how: 'more than once' },
      cause: error,
    });
    expect(called).toHaveBeenCalledTimes(1);
    const careless = boundary((_, fn) => {
      void fn();
      void fn();
    });
    await expect(careless.run('a', async () => 1)).rejects.toMatchObject(MISUSED);
  });

  it('OWNER-2: what is dropped leaves the context though it never ends; what it leaves wrong is told', async () => {
    const left: string[] = [];
    const { promise: dropped, resolve: drop } = held<void>();
    const leaving = held<void>();
    const within = boundary(async (owner, fn) => {
      await fn();
      left.push(`left ${owner.id}`);
      leaving.resolve();
      if (owner.id === 'b') throw new Error('not given back');
    });
    const never = (): Promise<never> => new Promise(() => undefined);
    const failing = within.run('b', never, () => dropped);
    void within.run('a', never, () => dropped);
    expect(left).toEqual([]);
    drop();
    await leaving.promise;
    await expect(failing).rejects.toThrow('not given back');
    expect(left.toSorted()).toEqual(['left a', 'left b']);
  });

  it('OWNER-2: a context that inherits nothing of CLS takes nothing from the body', async () => {
    const cls = ClsServiceManager.getClsService();
    const current = new WorkflowContext(new ClsScope(cls));
    const runner = new ContextRunner(new ClsScope(cls), {
      boundary: boundary((_, fn) => cls.run({ ifNested: 'override' }, fn)),
    });
    const run = { id: 'run-1', definition: 'greet', version: 1 };
    await runner.run({ ownerId: 'a', actor: 'u1', run, trace: null }, () => {
      expect([current.currentOwnerId(), current.currentRun(), current.currentActor()]).toEqual(['a', run, 'u1']);
    });
  });
});

describe('outsideOfRequests', () => {
  const request = new AsyncLocalStorage<string>();

  it('FAULT G13: nothing of the caller’s AsyncLocalStorage is seen inside, and it is there again afterwards', async () => {
    await request.run('of the caller', async () => {
      const seen = await outsideOfRequests(async () => {
        const first = request.getStore();
        await Promise.resolve();
        return [first, request.getStore()];
      });
      expect(seen).toEqual([undefined, undefined]);
      expect(request.getStore()).toBe('of the caller');
    });
  });

  it('FAULT H11: what is entered inside, at once or later, does not stay for the next', async () => {
    for (const each of ['first', 'second']) {
      const seen = await outsideOfRequests(async () => {
        const before = request.getStore();
        request.enterWith(`${each}, at once`);
        await Promise.resolve();
        request.enterWith(`${each}, later`);
        return before;
      });
      expect(seen).toBeUndefined();
    }
    expect(outsideOfRequests(() => request.getStore())).toBeUndefined();
    expect(request.getStore()).toBeUndefined();
  });
});
