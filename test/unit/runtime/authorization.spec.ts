import { NonRetryableError } from '../../../lib/errors/index.js';
import type { StageAuthorization } from '../../../lib/interfaces/index.js';
import type { GateAnswer, StageGate } from '../../../lib/runtime/execution/stage-gate.js';
import { workflow, type TestStage } from './support/pipeline.js';
import { signal, turns } from './support/signals.js';
import { TestEngine } from './support/test-engine.js';

/** Keeps what it is asked, and what happened besides. */
class TestGate implements StageGate {
  readonly did: string[] = [];
  readonly asked: StageAuthorization[] = [];
  answer: (request: StageAuthorization) => GateAnswer | Promise<GateAnswer> = () => ({ allowed: true });

  abilityOf({ ability }: { readonly ability: string | null }): string | null {
    return ability;
  }

  async check(request: StageAuthorization): Promise<GateAnswer> {
    this.did.push('gate');
    this.asked.push(request);
    return this.answer(request);
  }

  get calls(): string[] {
    return this.asked.map(({ stage, attempt, phase }) => `${stage.key} ${attempt} ${phase}`);
  }
}

let engine: TestEngine;
let gate: TestGate;
beforeEach(() => (gate = new TestGate()));
afterEach(() => engine.close());

async function started(stages: readonly TestStage[], input: unknown = null) {
  const flow = workflow('flow', stages);
  engine = new TestEngine([flow], { gate });
  const runId = await engine.start(flow, input);
  return runId;
}

describe('before a stage', () => {
  it('AUTH-1: the gate is asked with run, stage, owner, actor and ability, before each stage', async () => {
    const did: string[] = [];
    const runId = await started(
      [
        { key: 'a', ability: 'pay', execute: () => did.push('a') },
        { key: 'b', execute: () => did.push('b') },
      ],
      { amount: 7 },
    );
    await engine.drain();
    expect(gate.asked).toEqual([
      {
        kind: 'stage',
        run: { id: runId, definition: 'flow', version: 1, subject: null, input: { amount: 7 } },
        stage: { id: 'flow.a', runId: expect.any(String), key: 'a', node: 'a' },
        owner: null,
        actor: null,
        subject: null,
        ability: 'pay',
        attempt: 1,
        phase: 'execute',
      },
      expect.objectContaining({ ability: null, stage: expect.objectContaining({ key: 'b' }) }),
    ]);
    expect(did).toEqual(['a', 'b']);
  });

  it('TX-1, AUTH-1: owner, then authorizer, then whatever is of the stage: its making, its schema, its body', async () => {
    const { did } = gate;
    const execute = (): void => void did.push('body');
    const input = { safeParseAsync: async (data: unknown) => (did.push('schema'), { success: true, data }) } as never;
    const runId = await started([{ key: 'a', execute, input, make: () => (did.push('made'), { execute }) }]);
    engine.scope.loadOwner = () => void did.push('owner');
    await engine.drain();
    expect(did).toEqual(['owner', 'gate', 'schema', 'made', 'body']);
    expect(await engine.statuses(runId)).toMatchObject({ run: 'COMPLETED' });
  });

  it('OWNER-1: without its owner it is not even asked', async () => {
    await started([{ key: 'a', execute: () => 1 }]);
    engine.scope.loadOwner = () => {
      throw new NonRetryableError('no such team');
    };
    await engine.drain();
    expect(gate.did).toEqual([]);
  });

  it('AUTH-1: each retry asks again', async () => {
    await started([
      {
        key: 'a',
        execute: ({ attempt }) => {
          if (attempt < 3) throw new Error('again');
        },
      },
    ]);
    await engine.drain();
    expect(gate.calls).toEqual(['a 1 execute', 'a 2 execute', 'a 3 execute']);
  });

  it('AUTH-1: what goes on after a wait asks again', async () => {
    const runId = await started([{ key: 'a', execute: ({ step }) => step.sleep('nap', '1 h') }]);
    await engine.drain();
    await engine.travel(3_600_001);
    expect(gate.calls).toEqual(['a 1 execute', 'a 1 resume']);
    expect(await engine.statuses(runId)).toMatchObject({ run: 'COMPLETED' });
  });

  it('AUTH-1: so does each check of a stage that suspended itself, and a retry of the check', async () => {
    let checks = 0;
    const runId = await started([
      {
        key: 'a',
        execute: (ctx) => ctx.suspend({ every: '1 h' }),
        checkCompletion: () => {
          checks++;
          if (checks === 2) throw new Error('for now');
          return checks < 3 ? { status: 'pending' } : { status: 'ready', output: 'x' };
        },
      },
    ]);
    await engine.drain();
    await engine.travel(3_600_001);
    await engine.travel(3_600_001);
    expect(gate.calls).toEqual(['a 1 execute', 'a 1 completion', 'a 1 completion', 'a 2 completion']);
    expect(await engine.statuses(runId)).toMatchObject({ run: 'COMPLETED' });
  });

  it('AUTH-1: so does a manual retry', async () => {
    let broken = true;
    const runId = await started([
      {
        key: 'a',
        execute: () => {
          if (broken) throw new NonRetryableError('broken');
        },
      },
    ]);
    await engine.drain();
    broken = false;
    await engine.retry(runId);
    await engine.drain();
    expect(gate.calls).toEqual(['a 1 execute', 'a 2 execute']);
  });

  it('AUTH-1: so do the stages of a child', async () => {
    const child = workflow('child', [{ key: 'c', ability: 'pay', execute: () => 'c' }]);
    const parent = workflow('parent', [
      { key: 'p', execute: ({ step }) => step.runWorkflow('do', 'child' as never, {}) },
    ]);
    engine = new TestEngine([parent, child], { gate });
    await engine.start(parent);
    await engine.drain();
    await engine.travel(1);
    expect(gate.calls).toEqual(['p 1 execute', 'c 1 execute', 'p 1 resume']);
  });
});

describe('a denial', () => {
  it('AUTH-4: fails the stage with the reason, is not retried, and nothing of the stage is called', async () => {
    const execute = jest.fn();
    gate.answer = () => ({ allowed: false, reason: 'This team is suspended.' });
    const runId = await started([{ key: 'a', ability: 'pay', execute, make: jest.fn(() => ({ execute })) }]);
    await engine.drain();
    const { run, stageRuns } = await engine.history(runId);
    expect(run).toMatchObject({
      status: 'FAILED',
      failureCode: 'AUTHORIZATION_DENIED',
      failureMessage:
        'Stage a was denied the ability "pay": This team is suspended. Let an actor act who may, or change the policy.',
    });
    expect(JSON.parse(run.failureParams!)).toEqual({
      what: 'Stage a',
      ability: 'pay',
      reason: 'This team is suspended',
    });
    expect(stageRuns).toMatchObject([{ status: 'FAILED', attempt: 1 }]);
    expect(gate.calls).toEqual(['a 1 execute']);
    expect(execute).not.toHaveBeenCalled();
  });

  it('AUTH-4: without reason and ability says that much', async () => {
    gate.answer = () => ({ allowed: false });
    const runId = await started([{ key: 'a', execute: () => 1 }]);
    await engine.drain();
    const { failureMessage } = (await engine.history(runId)).run;
    expect(failureMessage).toBe('Stage a was denied. Let an actor act who may, or change the policy.');
  });

  it('AUTH-4: after a wait ends the stage, and what it did before stays done once', async () => {
    const did: string[] = [];
    const runId = await started([
      {
        key: 'a',
        execute: async ({ step }) => {
          await step.run('before', () => void did.push('before'));
          await step.sleep('nap', '1 h');
          await step.run('after', () => void did.push('after'));
        },
      },
    ]);
    gate.answer = ({ phase }) => (phase === 'resume' ? { allowed: false, reason: 'no more' } : { allowed: true });
    await engine.drain();
    await engine.travel(3_600_001);
    expect(await engine.history(runId)).toMatchObject({ run: { failureCode: 'AUTHORIZATION_DENIED' } });
    expect(did).toEqual(['before']);
  });

  it('AUTH-4: a person may retry it once the policy says yes', async () => {
    gate.answer = () => ({ allowed: false });
    const runId = await started([{ key: 'a', execute: () => 'done' }]);
    await engine.drain();
    gate.answer = () => ({ allowed: true });
    await engine.retry(runId);
    await engine.drain();
    expect(await engine.output(runId)).toBe('done');
  });

  it('LEASE-6, AUTH-4: while the process shuts down is none: policies may miss clients that are closed', async () => {
    const runId = await started([{ key: 'a', execute: () => 1 }]);
    gate.answer = () => {
      void engine.runtime.worker.stop(1_000);
      return { allowed: false, reason: 'the policy threw an error' };
    };
    await engine.drain();
    expect(await engine.statuses(runId)).toEqual({ run: 'RUNNING', a: 'PENDING' });
  });
});

describe('an answer that comes late', () => {
  it('CANCEL-2, AUTH-1: calls nothing of a run that was cancelled meanwhile', async () => {
    const asked = signal();
    const answered = signal<GateAnswer>();
    const execute = jest.fn();
    gate.answer = () => (asked.fire(), answered);
    const runId = await started([{ key: 'a', execute }]);
    const drained = engine.drain();
    await asked;
    await engine.cancel(runId);
    await engine.runtime.worker.cancelled([runId]);
    answered.fire({ allowed: true });
    await drained;
    await turns();
    expect(execute).not.toHaveBeenCalled();
    expect(await engine.statuses(runId)).toEqual({ run: 'CANCELLED', a: 'CANCELLED' });
  });
});
