import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { ClsModule, ClsService, ClsServiceManager } from 'nestjs-cls';
import {
  ClsScope,
  ContextCapture,
  ContextModule,
  ContextRunner,
  OwnerBoundary,
  WorkflowContext,
} from '../../../lib/context/index.js';
import type { ExecutionContext } from '../../../lib/context/index.js';

const scope = new ClsScope(ClsServiceManager.getClsService());
const cls = scope.cls;
const current = new WorkflowContext(scope);

const execution = (changes: Partial<ExecutionContext> = {}): ExecutionContext => ({
  ownerId: 'team-a',
  actor: { id: 'u1' },
  run: { id: 'run-1', definition: 'greet', version: 1 },
  trace: null,
  ...changes,
});

describe('ContextRunner', () => {
  it('OWNER-1: a body sees run, stage, owner and actor', async () => {
    const stage = { runId: 's1', key: 'hello', node: 'hello', stage: 'hello', attempt: 2 };
    await new ContextRunner(scope).run(execution({ stage }), async () => {
      await Promise.resolve();
      expect(current.currentRun()).toEqual({ id: 'run-1', definition: 'greet', version: 1 });
      expect(current.currentStage()).toEqual(stage);
      expect(current.currentOwner()).toBe('team-a');
      expect(current.currentOwnerId()).toBe('team-a');
      expect(current.currentActor()).toEqual({ id: 'u1' });
    });
  });

  it('OWNER-1: the owner is loaded once, in the context, and is what bodies see', async () => {
    const loads: unknown[] = [];
    const loadOwner = async (id: string): Promise<object> => {
      loads.push(current.currentOwnerId());
      return { id, plan: 'gold' };
    };
    const seen = await new ContextRunner(scope, { loadOwner }).run(execution(), (owner) => [
      owner,
      current.currentOwner(),
    ]);
    expect(seen).toEqual([
      { id: 'team-a', plan: 'gold' },
      { id: 'team-a', plan: 'gold' },
    ]);
    expect(loads).toEqual(['team-a']);
  });

  it('OWNER-5: a run of nobody has no owner, and none is loaded', async () => {
    const loadOwner = jest.fn();
    await new ContextRunner(scope, { loadOwner }).run(execution({ ownerId: null }), (owner) =>
      expect(owner).toBeNull(),
    );
    expect(loadOwner).not.toHaveBeenCalled();
  });

  it('OWNER-1: a failing load rejects and the body is not called', async () => {
    const body = jest.fn();
    const runner = new ContextRunner(scope, { loadOwner: () => Promise.reject(new Error('no such team')) });
    await expect(runner.run(execution(), body)).rejects.toThrow('no such team');
    expect(body).not.toHaveBeenCalled();
  });

  it('OWNER-2: the owner context wraps load and body', async () => {
    const log: string[] = [];
    const ownerContext = {
      run: async <T>(owner: { id: string | null }, fn: () => Promise<T>): Promise<T> => {
        log.push(`enter ${owner.id}`);
        try {
          return await fn();
        } finally {
          log.push(`leave ${owner.id}`);
        }
      },
    };
    const loadOwner = (id: string): string => (log.push('load'), id);
    await new ContextRunner(scope, { loadOwner, boundary: new OwnerBoundary(() => ownerContext) }).run(
      execution(),
      () => void log.push('body'),
    );
    expect(log).toEqual(['enter team-a', 'load', 'body', 'leave team-a']);
  });

  it('FAULT G13: two runs on one worker see nothing of each other, interleaved or in turn', async () => {
    const runner = new ContextRunner(scope);
    let meet!: () => void;
    const both = new Promise<void>((resolve) => (meet = resolve));
    const seen: unknown[] = [];
    const body = async (): Promise<void> => {
      cls.set('leak', current.currentOwnerId());
      if (current.currentOwnerId() === 'team-b') meet();
      await both;
      seen.push([current.currentOwnerId(), current.currentRun()?.id, cls.get('leak')]);
    };
    const a = runner.run(execution(), body);
    const b = runner.run(execution({ ownerId: 'team-b', run: { id: 'run-2', definition: 'greet', version: 1 } }), body);
    await Promise.all([a, b]);
    await runner.run(execution({ ownerId: null }), () => void seen.push(cls.get('leak')));
    expect(seen).toEqual([['team-a', 'run-1', 'team-a'], ['team-b', 'run-2', 'team-b'], undefined]);
  });

  it("FAULT H11: the caller's context is not seen inside, and is untouched afterwards", async () => {
    await cls.run(async () => {
      cls.set('teamId', 'of the request');
      await new ContextRunner(scope).run(execution(), () => {
        expect(cls.get('teamId')).toBeUndefined();
        cls.set('teamId', 'of the body');
      });
      expect(cls.get('teamId')).toBe('of the request');
      expect(current.currentRun()).toBeUndefined();
    });
    expect(current.currentRun()).toBeUndefined();
    expect(scope.active).toBe(false);
  });
});

describe('ContextCapture', () => {
  const capture = new ContextCapture(scope, { resolveOwner: (store) => store.get('teamId') });

  it('OWNER-1: owner and actor come from the CLS of the caller', async () => {
    const captured = await cls.run(() => {
      cls.set('teamId', 'team-a');
      current.setActor({ id: 'u7' });
      return capture.capture({}, 'start');
    });
    expect(captured).toEqual({ ownerId: 'team-a', actor: { id: 'u7' }, trace: null });
  });

  it('OWNER-1: what the call says goes before the CLS', async () => {
    const captured = await cls.run(() => {
      cls.set('teamId', 'team-a');
      return capture.capture({ owner: null, actor: 'cron' }, 'start');
    });
    expect(captured).toEqual({ ownerId: null, actor: 'cron', trace: null });
  });

  it("OWNER-2: inside a body the run's owner and starter are taken, not the request's", async () => {
    const context = execution({ actor: 'system', startedBy: { id: 'u1' }, trace: '00-abc' });
    const captured = await cls.run(() => {
      cls.set('teamId', 'team-b');
      return new ContextRunner(scope).run(context, () => capture.capture({}, 'start'));
    });
    expect(captured).toEqual({ ownerId: 'team-a', actor: { id: 'u1' }, trace: '00-abc' });
  });

  it('OWNER-5: without owners.resolve a start belongs to nobody', async () => {
    await expect(new ContextCapture(scope).owner({}, 'start')).resolves.toBeNull();
  });

  it.each([
    ['given as undefined', () => capture.owner({ owner: undefined }, 'start')],
    ['resolved as undefined', () => cls.run(() => capture.owner({}, 'start'))],
    ['resolved outside any CLS context', () => capture.owner({}, 'start')],
  ])('FAULT A18: an owner %s is refused', async (_case, ask) => {
    await expect(ask()).rejects.toMatchObject({ code: 'UNDEFINED_ID', params: { what: 'owner', where: 'start' } });
  });

  it.each([
    ['', 'an empty text'],
    [7, 'of type number'],
  ])('OWNER-5: %p is no owner', async (owner, shown) => {
    await expect(capture.owner({ owner: owner as never }, 'start')).rejects.toThrow(shown);
  });
});

describe('ContextModule', () => {
  @Module({ imports: [ClsModule.forRoot({ global: true })] })
  class HostCls {}

  it.each([
    ['without', []],
    ['with', [HostCls]],
  ])('MOD-1: works %s the ClsModule of the host', async (_case, imports) => {
    const app = await Test.createTestingModule({ imports: [...imports, ContextModule] }).compile();
    const runner = new ContextRunner(app.get(ClsScope));
    await runner.run(execution(), () => {
      expect(app.get(WorkflowContext).currentRun()?.id).toBe('run-1');
      expect(app.get(ClsService, { strict: false }).isActive()).toBe(true);
    });
    await app.close();
  });
});
