import { ChildNotStartedError, StageFailedError } from '../../../lib/errors/index.js';
import type { StageAuthorization, StageContext } from '../../../lib/interfaces/index.js';
import type { StageGate } from '../../../lib/runtime/execution/stage-gate.js';
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

describe('an escalation', () => {
  it('ESC-1: fires when its time has come since the visit began, once; the visit goes on', async () => {
    const runId = await start([signing(after(1, notify(undefined, 'Late.')), after(2, notify(['cfo']))), end()]);
    expect(await rows(runId)).toEqual(['sign SUSPENDED', 'sign#1 PENDING', 'sign#2 PENDING']);
    await engine.travel(HOUR - 1_000);
    expect(await rows(runId)).toEqual(['sign SUSPENDED', 'sign#1 PENDING', 'sign#2 PENDING']);
    await engine.travel(1_000);
    expect(await rows(runId)).toEqual(['sign SUSPENDED', 'sign#1 COMPLETED', 'sign#2 PENDING']);
    expect(await told('escalation:notified')).toMatchObject([{ level: 1, to: ['ann', 'bob'], message: 'Late.' }]);
    await engine.travel(HOUR);
    await engine.travel(10 * HOUR);
    expect(await rows(runId)).toEqual(['sign SUSPENDED', 'sign#1 COMPLETED', 'sign#2 COMPLETED']);
    expect(await told('escalation:fired')).toMatchObject([
      { level: 1, action: 'notify' },
      { level: 2, action: 'notify' },
    ]);
    await signed();
    expect(await status(runId)).toBe('COMPLETED');
    expect(await told('escalation:notified')).toHaveLength(2);
  });

  it('ESC-1: is told of with the visit that it stands beside, and as nothing else', async () => {
    const runId = await start([signing(after(1, notify())), end()]);
    await engine.travel(HOUR);
    await told('escalation:fired');
    const { stageRuns } = await engine.history(runId);
    const [fired] = engine.sink.events.filter(({ type }) => type === 'escalation:fired');
    expect(fired!.stage).toEqual({ runId: stageRuns[0]!.id, key: 'sign', stage: 'wait' });
    expect(fired!.data).toMatchObject({ escalation: stageRuns[1]!.id });
    const ofStages = engine.sink.events.filter(({ type }) => type.startsWith('stage:'));
    expect(ofStages.map(({ type, stage: about }) => `${type} ${about!.key}`)).toEqual([
      'stage:started sign',
      'stage:suspended sign',
    ]);
  });

  it.each([
    ['completes', signed],
    ['is cancelled with its run', async () => engine.cancel((await only()).run.id)],
    ['is terminated with its run', async () => engine.cancel((await only()).run.id, { hooks: false })],
  ])('ESC-1: is cancelled when the visit %s', async (_how, ends) => {
    const runId = await start([signing(after(1, notify())), end()]);
    only = () => engine.history(runId);
    await ends();
    expect((await rows(runId))[1]).toBe('sign#1 CANCELLED');
    await engine.travel(2 * HOUR);
    expect((await rows(runId))[1]).toBe('sign#1 CANCELLED');
    expect(await engine.jobCount(runId)).toBe(0);
    expect(await told('escalation:fired')).toEqual([]);
  });

  it('ESC-1: is cancelled when the visit is skipped, or fails', async () => {
    const escalations = [after(1, notify())];
    const skips = stage('work', (ctx) => ctx.skip('Nothing to do.'));
    const nodes = [{ id: 'sign', type: 'work', escalations }, end()];
    const skipped = await start(nodes, EDGES, { stages: [skips] });
    expect(await rows(skipped)).toEqual(['sign SKIPPED', 'sign#1 CANCELLED', 'end COMPLETED done']);
    await engine.close();
    const fails = stage('work', () => {
      throw new StageFailedError('NO', 'No.');
    });
    const failed = await start(nodes, EDGES, { stages: [fails] });
    expect(await rows(failed)).toEqual(['sign FAILED NO', 'sign#1 CANCELLED']);
  });

  it('ESC-1: each visit of a loop has its own', async () => {
    const nodes = [{ id: 'twice', type: 'loop', config: { count: 2 } }, signing(after(1, notify())), end()];
    const edges: GraphEdge[] = [
      ['twice', 'sign', 'each'],
      ['sign', 'twice'],
      ['twice', 'end'],
    ];
    const runId = await start(nodes, edges);
    await engine.travel(HOUR);
    await signed();
    await engine.travel(HOUR - 1_000);
    expect(await rows(runId)).toEqual([
      'twice COMPLETED each',
      'sign COMPLETED',
      'sign#1 COMPLETED',
      'twice COMPLETED each',
      'sign SUSPENDED',
      'sign#1 PENDING',
    ]);
    await engine.travel(1_000);
    expect(await told('escalation:fired')).toHaveLength(2);
  });

  it('ESC-1: its time counts from the start of a run that starts later', async () => {
    const flow = await graphFlow([signing(after(1, notify())), end()], EDGES);
    use(new TestEngine([flow]));
    const runId = await engine.start(flow, {}, { delayMs: HOUR });
    await engine.travel(HOUR);
    expect(await rows(runId)).toEqual(['sign SUSPENDED', 'sign#1 PENDING']);
    await engine.travel(HOUR);
    expect((await rows(runId))[1]).toBe('sign#1 COMPLETED');
  });

  it('WAKE-2: a wake pass says how many came due, at the instant that it is given (WAKE-5)', async () => {
    await start([signing(after(1, notify())), end()]);
    const now = Date.parse(await engine.store.now());
    expect(await engine.runtime.pass.wake(new Date(now + HOUR - 1_000))).toMatchObject({ escalations: 0, retries: 0 });
    expect(await engine.runtime.pass.wake(new Date(now + HOUR))).toMatchObject({ escalations: 1, retries: 0 });
  });

  it('STUCK-1: one that waits for its time keeps nobody from finding that the run is stuck', async () => {
    const nodes = [{ id: 'sign', type: 'work', escalations: [after(1_000, notify())] }, end()];
    const flow = await graphFlow(nodes, EDGES, [stage('work', () => null)]);
    use(new TestEngine([flow]));
    const runId = await engine.start(flow);
    const { stageRuns } = await engine.history(runId);
    const { jobs, journal } = engine.database;
    const lost = [...jobs.all()].find(({ stageRunId }) => stageRunId === stageRuns[0]!.id)!;
    journal.transaction(() => jobs.remove(lost));
    engine.passTime(24 * HOUR);
    expect(await engine.jobCount(runId)).toBe(0);
    expect(await engine.runtime.pass.wake()).toMatchObject({ requeued: 1 });
    await engine.drain();
    expect(await rows(runId)).toEqual(['sign COMPLETED', 'sign#1 CANCELLED', 'end COMPLETED done']);
  });

  it('LIMIT-1: does not count as a stage run of its own', async () => {
    const nodes = [signing(after(1, notify()), after(2, notify())), end()];
    const runId = await start(nodes, EDGES, { settings: { limits: { maxStageRuns: 2 } } });
    await signed();
    expect(await status(runId)).toBe('COMPLETED');
  });

  it('GRAPH-3: what it came to is no output, and no stage that came before', async () => {
    const nodes = [
      signing(after(1, { type: 'page', input: { who: 'input.who' } })),
      { id: 'next', type: 'look' },
      end('end', { output: { sign: 'output("sign")' } }),
    ];
    const seen: unknown[] = [];
    const stages = [
      stage('page', ({ input, stage: at }) => (seen.push([input, at.key, at.node]), 'paged')),
      stage('look', (ctx) => void seen.push(ctx.optional('sign#1'))),
    ];
    const edges: GraphEdge[] = [
      ['sign', 'next'],
      ['next', 'end'],
    ];
    const runId = await start(nodes, edges, { stages, input: { who: 'ann' } });
    await engine.travel(HOUR);
    await signed();
    expect(seen).toEqual([[{ who: 'ann' }, 'sign#1', 'sign'], undefined]);
    expect(await engine.output(runId)).toEqual({ sign: { by: 'ann' } });
  });
});

let only: () => Promise<{ readonly run: { readonly id: string } }>;

describe('notify', () => {
  it('K41: asks who it is at that moment, of the subject as it is then', async () => {
    let boss = 'ann';
    const subjects = { load: async () => ({ kind: 'found' as const, subject: { boss } }) };
    await start([signing(after(1, notify('[subject.boss]'))), end()], EDGES, {
      given: { subjects: subjects as never },
      run: { subject: { type: 'thing', id: '1' } },
    });
    boss = 'zoe';
    await engine.travel(HOUR);
    expect(await told('escalation:notified')).toMatchObject([{ to: ['zoe'], message: null }]);
  });

  it.each([
    ['nobody is there', 'input.people', 'NO_RECIPIENTS'],
    ['what it gives is no person', 'input.numbers', 'INVALID_APPROVERS'],
    ['it gives nothing', 'input.missing', 'EXPRESSION_FAILED'],
  ])('ESC-2: fails, alone and aloud, where %s', async (_why, to, code) => {
    const input = { people: [], numbers: [3] };
    const runId = await start([signing(after(1, notify(to))), end()], EDGES, { input });
    await engine.travel(HOUR);
    await engine.travel(HOUR);
    expect(await rows(runId)).toEqual(['sign SUSPENDED', `sign#1 FAILED ${code}`]);
    expect(await told('escalation:failed')).toMatchObject([{ level: 1, action: 'notify', code }]);
    expect([await told('escalation:notified'), await told('escalation:fired')]).toEqual([[], []]);
    await signed();
    expect(await status(runId)).toBe('COMPLETED');
  });
});

describe('take_edge', () => {
  const nodes = [signing(after(1, take('late')), after(2, take('later'))), end(), end('late', { outcome: 'late' })];
  const edges: GraphEdge[] = [
    ['sign', 'end'],
    ['sign', 'late', 'late'],
    ['sign', 'late', 'later'],
  ];

  it('ESC-1: ends the visit, with its waits and its other escalations, and goes on by the edge', async () => {
    const runId = await start(nodes, edges);
    await engine.travel(HOUR);
    expect(await rows(runId)).toEqual([
      'sign CANCELLED late',
      'sign#1 COMPLETED late',
      'sign#2 CANCELLED',
      'late COMPLETED late',
    ]);
    expect(await engine.output(runId)).toEqual({ outcome: 'late' });
    expect(await told('escalation:fired')).toMatchObject([{ action: 'take_edge', outcome: 'late', taken: true }]);
    await signed();
    expect(await engine.jobCount(runId)).toBe(0);
  });

  it('CANCEL-2: a body that is at it is told, and what it brings is dropped; CANCEL-3: its hook undoes what it began', async () => {
    let finish!: (value: unknown) => void;
    let begun!: () => void;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const undone: string[] = [];
    const works = stage(
      'work',
      () => {
        begun();
        return new Promise((resolve) => (finish = resolve));
      },
      { cancel: ({ stage: at }: StageContext) => void undone.push(at.key) },
    );
    const flow = await graphFlow([{ ...nodes[0]!, type: 'work', config: undefined }, ...nodes.slice(1)], edges, [
      works,
    ]);
    const options = { lease: { staleThreshold: '1 day', absoluteTimeout: 0 } } as const;
    use(new TestEngine([flow], { options }));
    const runId = await engine.start(flow);
    const first = engine.drain();
    await hasBegun;
    const other = new TestEngine([flow], { options, database: engine.database, clock: engine.clock });
    await other.travel(HOUR);
    expect((await rows(runId)).slice(0, 2)).toEqual(['sign CANCELLED late', 'sign#1 COMPLETED late']);
    expect(await status(runId)).toBe('COMPLETED');
    finish('too late');
    await first;
    await engine.drain();
    expect(undone).toContain('sign');
    expect((await rows(runId))[0]).toBe('sign CANCELLED late');
    await other.close();
  });

  it('E4: in a branch, while the others wait at the join, the run goes on once', async () => {
    const both = {
      id: 'both',
      type: 'parallel',
      config: { join: 'all', branches: [{ outcome: 'a' }, { outcome: 'b' }] },
    };
    const stages = [stage('work', () => null)];
    const runId = await start(
      [both, signing(after(1, take('late'))), { id: 'other', type: 'work' }, { id: 'after', type: 'work' }, end()],
      [
        ['both', 'sign', 'a'],
        ['both', 'other', 'b'],
        ['sign', 'both'],
        ['sign', 'both', 'late'],
        ['other', 'both'],
        ['both', 'after'],
        ['after', 'end'],
      ],
      { stages },
    );
    expect(await rows(runId)).toEqual(['both COMPLETED', 'sign SUSPENDED', 'sign#1 PENDING', 'other COMPLETED']);
    await engine.travel(HOUR);
    expect((await rows(runId)).slice(1)).toEqual([
      'sign CANCELLED late',
      'sign#1 COMPLETED late',
      'other COMPLETED',
      'both COMPLETED done',
      'after COMPLETED',
      'end COMPLETED done',
    ]);
  });

  it('WAKE-1: of several that are due at once one wins, and the run goes on once', async () => {
    const runId = await start(nodes, edges);
    await engine.travel(24 * HOUR);
    const all = await rows(runId);
    expect(all.filter((row) => row.startsWith('late'))).toHaveLength(1);
    expect(await status(runId)).toBe('COMPLETED');
    const fired = await told('escalation:fired');
    expect(fired.filter(({ taken }) => taken)).toHaveLength(1);
  });
});

describe('start_workflow', () => {
  it('ESC-1: starts another run, which nobody waits for, and which outlives the visit', async () => {
    const child = await graphFlow(
      [{ id: 'nap', type: 'wait', config: { timer: '1 day' } }, end('end', { output: 'input.n' })],
      [['nap', 'end']],
      [],
      { id: 'child' },
    );
    const action = { type: 'start_workflow', workflow: 'child', input: { n: 'input.n + 1' } };
    const flow = await graphFlow([signing(after(1, action)), end()], EDGES);
    use(new TestEngine([flow, child]));
    const runId = await engine.start(flow, { n: 1 });
    await engine.drain();
    await engine.travel(HOUR);
    const { stageRuns } = await engine.history(runId);
    const { runId: childId } = JSON.parse(stageRuns[1]!.output!) as { runId: string };
    await signed();
    expect(await status(runId)).toBe('COMPLETED');
    expect(await status(childId)).toBe('RUNNING');
    await engine.travel(24 * HOUR);
    expect(await engine.output(childId)).toBe(2);
  });
});

describe("an escalation's own failure", () => {
  it('ESC-2: a child that could not be started is tried again; LIMIT-3: later there is room for it', async () => {
    const child = await graphFlow([end()], [], [], { id: 'child' });
    const flow = await graphFlow([signing(after(1, { type: 'start_workflow', workflow: 'child' })), end()], EDGES, [], {
      settings: { retry: { maxAttempts: 3, backoff: '1m', jitter: 0 } },
    });
    use(new TestEngine([flow, child]));
    const runId = await engine.start(flow);
    await engine.drain();
    let full = true;
    const createRuns = engine.store.createRuns.bind(engine.store);
    engine.store.createRuns = async (...given) => {
      if (full) throw new ChildNotStartedError({ workflow: 'child', message: 'Full.' });
      return createRuns(...given);
    };
    await engine.travel(HOUR);
    expect((await rows(runId))[1]).toBe('sign#1 PENDING');
    full = false;
    await engine.travel(60_000);
    expect((await rows(runId))[1]).toBe('sign#1 COMPLETED');
    const { attempts } = await engine.history(runId);
    expect(attempts.map(({ code }) => code)).toEqual(['CHILD_NOT_STARTED']);
  });

  it('ESC-2: is tried again with backoff like a stage, then marks it alone; its tries are kept', async () => {
    let tries = 0;
    const page = stage('page', () => {
      tries += 1;
      throw new Error('The pager is down.');
    });
    const runId = await start([signing(after(1, { type: 'page' })), end()], EDGES, {
      stages: [{ ...page, retry: { maxAttempts: 2, backoff: '1m', jitter: 0 } }],
    });
    await engine.travel(HOUR);
    expect(await rows(runId)).toEqual(['sign SUSPENDED', 'sign#1 PENDING']);
    await engine.travel(60_000);
    expect([tries, await rows(runId)]).toEqual([2, ['sign SUSPENDED', 'sign#1 FAILED EXCEPTION']]);
    const { attempts } = await engine.history(runId);
    expect(attempts.map(({ attempt, code }) => `${attempt} ${code}`)).toEqual(['1 EXCEPTION', '2 EXCEPTION']);
    expect(await told('escalation:failed')).toMatchObject([{ code: 'EXCEPTION', message: 'The pager is down.' }]);
    expect(await told('stage:failed')).toEqual([]);
    await signed();
    expect(await status(runId)).toBe('COMPLETED');
  });

  it('ESC-2: a lost lease is requeued, and used up it fails the escalation alone', async () => {
    const page = stage('page', () => new Promise(() => undefined), { retry: { maxAttempts: 1, backoff: 0 } });
    const runId = await start([signing(after(1, { type: 'page' })), end()], EDGES, {
      stages: [page],
      given: { options: { lease: { maxLosses: 1 } } },
    });
    engine.passTime(HOUR);
    await engine.store.promoteDelayed(10, 0);
    await engine.store.claim({ workerId: 'dead', limit: 1, queues: null, unserved: [] });
    await engine.travel(HOUR);
    expect(await rows(runId)).toEqual(['sign SUSPENDED', 'sign#1 FAILED LEASE_EXPIRED']);
    expect(await told('escalation:failed')).toMatchObject([{ code: 'LEASE_EXPIRED' }]);
    expect(await status(runId)).toBe('RUNNING');
  });

  it('AUTH-4: one that is denied fails alone; AUTH-1: it is asked about by name, ability or none', async () => {
    const asked: StageAuthorization[] = [];
    const gate: StageGate = {
      abilityOf: ({ sideEffect }) => (sideEffect ? null : undefined),
      check: async (request) => {
        asked.push(request);
        return request.escalation ? { allowed: false, reason: 'Not now.' } : { allowed: true };
      },
    };
    const nodes = [signing(after(1, take('late')), after(2, notify())), end()];
    const runId = await start(nodes, [...EDGES, ['sign', 'end', 'late']], { given: { gate } });
    expect(asked).toEqual([]);
    await engine.travel(HOUR);
    await engine.travel(HOUR);
    expect(asked).toMatchObject([
      { stage: { id: 'take_edge', key: 'sign#1', node: 'sign' }, escalation: { level: 1, action: 'take_edge' } },
      { stage: { id: 'notify', key: 'sign#2', node: 'sign' }, escalation: { level: 2, action: 'notify' } },
    ]);
    expect(await rows(runId)).toEqual([
      'sign SUSPENDED',
      'sign#1 FAILED AUTHORIZATION_DENIED',
      'sign#2 FAILED AUTHORIZATION_DENIED',
    ]);
    const [failed] = await told('escalation:failed');
    expect(failed!.message).toContain('Not now.');
    await signed();
    expect(await status(runId)).toBe('COMPLETED');
  });
});
