import { v7 } from 'uuid';
import { decideMigrate } from '../../../lib/engine/state/decide-migrate.js';
import { decideRerun } from '../../../lib/engine/state/decide-rerun.js';
import { StageFailedError } from '../../../lib/errors/index.js';
import { toHistoryView } from '../../../lib/services/runs/read-views.js';
import {
  EDGES,
  HOUR,
  after,
  engine,
  notify,
  rows,
  signed,
  signing,
  stage,
  start,
  status,
  take,
  told,
  use,
} from './support/escalated.js';
import { end, graphFlow, type GraphEdge } from './support/graph-flow.js';
import { TestEngine } from './support/test-engine.js';

describe('a manual retry', () => {
  let fail = true;
  const works = stage('work', () => {
    if (fail) throw new StageFailedError('NO', 'No.');
    return null;
  });
  /** A run of two branches: one waits, with these escalations, and two hours later the other one fails. */
  async function failsBeside(...escalations: object[]): Promise<string> {
    const branches = [{ outcome: 'a' }, { outcome: 'b' }];
    const nodes = [
      { id: 'both', type: 'parallel', config: { join: 'all', branches } },
      signing(...escalations),
      { id: 'nap', type: 'wait', config: { timer: '2h' } },
      { id: 'work', type: 'work' },
      end(),
    ];
    const edges: GraphEdge[] = [
      ['both', 'sign', 'a'],
      ['both', 'nap', 'b'],
      ['nap', 'work'],
      ['work', 'both'],
      ['sign', 'both'],
      ['sign', 'both', 'late'],
      ['both', 'end'],
    ];
    const runId = await start(nodes, edges, { stages: [works] });
    await engine.travel(HOUR);
    await engine.travel(HOUR);
    return runId;
  }

  it('RETRY-5: opens those that had not fired, with their whole time, and leaves what fired', async () => {
    fail = true;
    const runId = await failsBeside(after(1, notify()), after(3, take('late')));
    expect(await rows(runId)).toEqual([
      'both COMPLETED',
      'sign CANCELLED',
      'sign#1 COMPLETED',
      'sign#2 CANCELLED',
      'nap COMPLETED',
      'work FAILED NO',
    ]);
    fail = false;
    await engine.travel(HOUR);
    await engine.retry(runId);
    await engine.drain();
    await engine.travel(3 * HOUR - 1_000);
    expect(await rows(runId)).toEqual([
      'both COMPLETED',
      'sign SUSPENDED',
      'sign#1 COMPLETED',
      'sign#2 PENDING',
      'nap COMPLETED',
      'work COMPLETED',
    ]);
    await engine.travel(1_000);
    expect((await rows(runId)).slice(1, 4)).toEqual([
      'sign CANCELLED late',
      'sign#1 COMPLETED',
      'sign#2 COMPLETED late',
    ]);
    expect(await status(runId)).toBe('COMPLETED');
  });

  it('RETRY-5: a visit that an escalation left stays left', async () => {
    fail = true;
    const runId = await failsBeside(after(1, take('late')));
    expect(await status(runId)).toBe('FAILED');
    fail = false;
    await engine.retry(runId);
    await engine.drain();
    expect(await rows(runId)).toEqual([
      'both COMPLETED',
      'sign CANCELLED late',
      'sign#1 COMPLETED late',
      'nap COMPLETED',
      'work COMPLETED',
      'both COMPLETED done',
      'end COMPLETED done',
    ]);
  });

  it('RETRY-5: an escalation that failed is none of the stages that a run fails on', async () => {
    const flow = await graphFlow([signing(after(1, notify('input.none'))), end()], EDGES, []);
    use(new TestEngine([flow]));
    const runId = await engine.start(flow, { none: [] }, { deadlineMs: 2 * HOUR });
    await engine.drain();
    await engine.travel(HOUR);
    await engine.travel(HOUR);
    expect(await rows(runId)).toEqual(['sign CANCELLED', 'sign#1 FAILED NO_RECIPIENTS']);
    await engine.retry(runId);
    expect(await status(runId)).toBe('FAILED');
  });
});

describe('a rerun', () => {
  it('RUN-5: enters the node anew with its escalations; those of what is kept stay with it, whatever became of them', async () => {
    const nodes = [
      signing(after(1, notify()), after(5, notify())),
      { id: 'again', type: 'wait', config: { timer: '2h' }, escalations: [after(1, notify())] },
      end(),
    ];
    const flow = await graphFlow(nodes, [
      ['sign', 'again'],
      ['again', 'end'],
    ]);
    use(new TestEngine([flow]));
    const runId = await engine.start(flow);
    await engine.drain();
    await engine.travel(HOUR);
    await signed();
    await engine.travel(HOUR);
    await engine.travel(HOUR);
    expect(await status(runId)).toBe('COMPLETED');
    await engine.store.changeRun(runId, { all: true }, ({ state }) => {
      const decision = decideRerun(flow.compiled, state, 'again', { nextId: v7, defaultQueue: 'default' });
      return { transition: 'transition' in decision ? decision.transition : null, answer: null };
    });
    const { stageRuns } = await engine.history(runId);
    expect(stageRuns.map(({ generation, key, status: is }) => `${generation} ${key} ${is}`)).toEqual([
      '1 again COMPLETED',
      '1 again#1 COMPLETED',
      '1 end COMPLETED',
      '2 sign COMPLETED',
      '2 sign#1 COMPLETED',
      '2 sign#2 CANCELLED',
      '2 again PENDING',
      '2 again#1 PENDING',
    ]);
    await engine.drain();
    await engine.travel(HOUR);
    await engine.travel(HOUR);
    expect(await status(runId)).toBe('COMPLETED');
    expect(await told('escalation:fired')).toHaveLength(3);
  });
});

describe('migrateRun', () => {
  it('VER-1: the version that a run goes over to must have the escalations that wait; what it has more is for later visits', async () => {
    const flow = await graphFlow([signing(after(1, notify())), end()], EDGES);
    use(new TestEngine([flow]));
    const runId = await engine.start(flow);
    await engine.drain();
    const decided = async (...escalations: object[]): Promise<unknown> => {
      const edges: GraphEdge[] = [...EDGES, ['sign', 'end', 'late']];
      const given = JSON.stringify(escalations).includes('late') ? edges : EDGES;
      const target = await graphFlow([signing(...escalations), end()], given);
      const { answer } = (await engine.store.changeRun(runId, { all: true }, ({ state }) => ({
        transition: null,
        answer: decideMigrate(target.compiled, target.key, state),
      })))!;
      return 'refused' in answer ? answer.refused : 'allowed';
    };
    expect(await decided(after(9, notify(['zoe'])), after(10, take('late')))).toBe('allowed');
    expect(await decided()).toBe('Its node sign has no escalation sign#1 (notify), which waits for its time.');
    expect(await decided(after(1, take('late')))).toMatch('no escalation sign#1 (notify)');
  });
});

describe('the history of a run', () => {
  it('ESC-1: shows them with their stage: what is due, what became of it, who was told', async () => {
    const runId = await start(
      [signing(after(1, notify(['ann'], 'Late.')), after(2, notify('input.none')), after(3, notify())), end()],
      EDGES,
      {
        input: { none: [] },
      },
    );
    await engine.travel(HOUR);
    await engine.travel(HOUR);
    const [sign] = toHistoryView(await engine.history(runId), {}).stages;
    expect([sign!.key, toHistoryView(await engine.history(runId), {}).stages]).toEqual(['sign', [sign]]);
    expect(sign!.escalations).toMatchObject([
      { level: 1, action: 'notify', status: 'COMPLETED', to: ['ann'], dueAt: null, attempt: 1, error: null },
      { level: 2, status: 'FAILED', to: null, error: { code: 'NO_RECIPIENTS' }, failedAttempts: [{ attempt: 1 }] },
      { level: 3, status: 'PENDING', to: null, attempt: 0, startedAt: null },
    ]);
    const due = sign!.escalations[2]!.dueAt!.getTime() - sign!.createdAt.getTime();
    expect(due).toBe(3 * HOUR);
    await signed();
    const after3 = toHistoryView(await engine.history(runId), {}).stages[0]!.escalations[2];
    expect(after3).toMatchObject({ status: 'CANCELLED', dueAt: null });
  });
});
