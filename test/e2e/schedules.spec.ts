import {
  ShuttingDownError,
  Stage,
  WakeService,
  Workflow,
  WorkflowService,
  type Flow,
  type StageContext,
} from 'nestjs-workflow-engine';
import { WorkflowTester, type WorkflowTesterOptions } from 'nestjs-workflow-engine/testing';
import { z } from 'zod';
import { WORKFLOW_RUNTIME, type WorkflowRuntime } from '../../lib/composition/workflow-runtime.js';
import type { NewTrigger, TriggerRow, WorkflowStore } from '../../lib/engine/ports/index.js';
import { newId } from '../../lib/testing/conformance/builders.js';
import { testServerUrl } from '../support/database.js';

const input = z.object({ at: z.string(), for: z.string().nullish() });
const schemas = { input, output: z.object({ at: z.string() }) };

@Stage({ id: 'report', ...schemas })
class Report {
  async execute({ input: { at } }: StageContext<typeof schemas>) {
    return { at };
  }
}

@Workflow({ id: 'nightly', version: 1, input })
class Nightly {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Report);
  }
}

const strict = z.strictObject({ at: z.string() });

@Workflow({ id: 'strict', version: 1, input: strict })
class Strict {
  define(flow: Flow<typeof strict>) {
    return flow.pipe(Report);
  }
}

@Workflow({ id: 'rare', version: 1, input, limits: { startsPerMinute: 1 } })
class Rare {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Report);
  }
}

const HOW: [string, WorkflowTesterOptions][] = [
  ['in memory', { store: 'memory', workflow: {} }],
  ['on PostgreSQL', { server: testServerUrl(), workflow: {} }],
];

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe.each(HOW)('schedules, %s', (_case, options) => {
  let tester: WorkflowTester;
  let workflows: WorkflowService;
  let store: WorkflowStore;
  let wake: WakeService;
  /** The next full hour of the engine's clock, a good while away. */
  let hour: number;

  beforeEach(async () => {
    tester = await WorkflowTester.create({ ...options, providers: [Report, Nightly, Rare, Strict] });
    workflows = tester.app.get(WorkflowService);
    wake = tester.app.get(WakeService);
    ({ store } = await tester.app.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false }).ready());
    const now = (await tester.now()).getTime();
    hour = (Math.floor(now / HOUR) + 2) * HOUR;
    store.clockOffsetMs += hour - 30 * MINUTE - now;
  });
  afterEach(() => tester.close());

  /** Puts one schedule in force, alone of its definition. */
  async function schedule(spec: object, definitionId = 'nightly', ownerId: string | null = null): Promise<void> {
    const full = { id: 'every-hour', type: 'schedule', cron: '0 * * * *', input: { at: 'now' }, ...spec };
    const trigger: NewTrigger = {
      id: newId(),
      triggerId: 'every-hour',
      type: 'schedule',
      spec: JSON.stringify(full),
      fingerprint: 'hourly',
      eventKey: null,
    };
    await store.putTriggers({ ownerId, definitionId, definitionVersion: 1, triggers: [trigger] });
    await wake.wake();
  }

  const at = (hours: number, minutes = 0): Date => new Date(hour + hours * HOUR + minutes * MINUTE);

  async function runs(status?: 'PENDING' | 'RUNNING' | 'FAILED') {
    const listed = await workflows.asOperator().list({ ...(status && { status }) });
    return Promise.all([...listed.runs].reverse().map((run) => workflows.asOperator().get(run)));
  }

  const instants = async (): Promise<string[]> => (await runs()).map((run) => (run.input as { at: string }).at);
  const iso = (...dates: Date[]): string[] => dates.map((date) => date.toISOString());
  const row = async (): Promise<TriggerRow> => (await store.listTriggers({ limit: 1 }, { all: true }))[0]!;

  it('TRIG-1: each instant starts one run, given its instant as now, however often it is woken', async () => {
    await schedule({});
    expect((await wake.wake(at(0, -1))).schedules).toBe(0);
    expect((await wake.wake(at(0))).schedules).toBe(1);
    expect((await wake.wake(at(0, 1))).schedules).toBe(0);
    expect((await wake.wake(at(1))).schedules).toBe(1);
    expect((await wake.wake(at(0, 30))).schedules).toBe(0);
    expect(await instants()).toEqual(iso(at(0), at(1)));
    const { started, lastOutcome, lastRunId, nextAt } = await row();
    expect([started, lastOutcome, lastRunId]).toEqual([2, 'started', (await runs())[1]!.id]);
    expect(new Date(nextAt!)).toEqual(at(2));
  });

  it('TRIG-1: it goes by the clock, without anybody who wakes it', async () => {
    await schedule({});
    await tester.travel('3 hours');
    expect(await instants()).toEqual(iso(at(0), at(1), at(2)));
    expect((await runs()).every(({ status }) => status === 'COMPLETED')).toBe(true);
  });

  it('TRIG-1: a crash after the start repeats it, and finds the same run', async () => {
    await schedule({});
    const move = store.moveSchedules.bind(store);
    let crashes = 1;
    store.moveSchedules = (moves) => (crashes-- > 0 ? Promise.reject(new Error('The process died.')) : move(moves));
    const { errors } = await wake.wake(at(0));
    expect(errors).toMatchObject([{ part: 'schedules', message: expect.stringContaining('The process died.') }]);
    expect(await instants()).toEqual(iso(at(0)));
    // Another process takes over when the lease is over.
    expect((await wake.wake(at(0, 1))).schedules).toBe(0);
    store.clockOffsetMs += MINUTE + 1;
    await wake.wake(at(0, 2));
    expect(await instants()).toEqual(iso(at(0)));
    expect(await row()).toMatchObject({ lastOutcome: 'started', lastRunId: (await runs())[0]!.id });
  });

  it('TRIG-1: what one schedule throws is reported, and keeps none of those claimed with it', async () => {
    for (const definitionId of ['nightly', 'strict', 'rare']) await schedule({}, definitionId);
    const move = store.moveSchedules.bind(store);
    let crashes = 1;
    store.moveSchedules = (moves) => (crashes-- > 0 ? Promise.reject(new Error('The first is broken.')) : move(moves));
    const { errors } = await wake.wake(at(0));
    expect(errors).toMatchObject([{ part: 'schedules', message: expect.stringContaining('The first is broken.') }]);
    expect((await runs()).map((run) => run.definition).sort()).toEqual(['nightly', 'rare', 'strict']);
    const rows = await store.listTriggers({ limit: 10 }, { all: true });
    expect(rows.filter(({ lastOutcome }) => lastOutcome === 'started')).toHaveLength(2);
  });

  it.each([
    ['skip', []],
    ['once', [3]],
    ['all', [0, 1, 2, 3]],
  ] as const)('TRIG-1: of instants that nobody was there for, catchUp %s starts %j', async (catchUp, started) => {
    await schedule({ catchUp });
    await wake.wake(at(3, 30));
    expect(await instants()).toEqual(iso(...started.map((hours) => at(hours))));
    expect(await row()).toMatchObject({ lastOutcome: catchUp === 'skip' ? 'missed' : 'started' });
    await wake.wake(at(4));
    expect(await instants()).toEqual(iso(...[...started, 4].map((hours) => at(hours))));
  });

  it('TRIG-1: overlap skip passes over what comes while the run before is open, and says so', async () => {
    await schedule({ overlap: 'skip', catchUp: 'all' });
    await wake.wake(at(0));
    await wake.wake(at(1));
    expect(await row()).toMatchObject({ lastOutcome: 'overlap', passedOver: 1, started: 1 });
    await tester.drain();
    await wake.wake(at(4));
    // The first of the three is open when the others come.
    expect(await instants()).toEqual(iso(at(0), at(2)));
    expect(await row()).toMatchObject({ lastOutcome: 'overlap', passedOver: 3, started: 2 });
  });

  it('TRIG-1: jitter puts the start off, by the same for the same instant', async () => {
    await schedule({ jitter: '10 min' });
    await wake.wake(at(0));
    const [run] = await runs('PENDING');
    await tester.travel('29 min');
    expect(await tester.status(run!.id)).toBe('PENDING');
    await tester.travel('11 min');
    expect(await tester.status(run!.id)).toBe('COMPLETED');
    expect(await instants()).toEqual(iso(at(0)));
  });

  it('LIMIT-3: what is above the rate of starts is a run that FAILED, and its instant is over', async () => {
    await schedule({ cron: '*/10 * * * *', catchUp: 'all' }, 'rare');
    await wake.wake(at(0, 10));
    expect((await runs()).map(({ status, failure }) => failure?.code ?? status)).toEqual([
      'RUNNING',
      ...Array(3).fill('START_RATE_EXCEEDED'),
    ]);
    await wake.wake(at(0, 10));
    expect(await runs()).toHaveLength(4);
    expect(await row()).toMatchObject({ lastOutcome: 'refused', started: 1, passedOver: 3 });
  });

  it('LIMIT-3: an instant that was refused before a crash is over after it, and the next ones have no run that is open', async () => {
    await schedule({ cron: '*/10 * * * *', catchUp: 'all', overlap: 'skip' }, 'rare');
    await workflows.start(Rare, { at: 'by hand' });
    jest.spyOn(store, 'moveSchedules').mockRejectedValueOnce(new Error('The process died.'));
    await wake.wake(at(0));
    const refused = (await runs('FAILED')).map(({ id }) => id);
    expect(refused).toHaveLength(3);
    // The lease is over, and there is room again.
    store.clockOffsetMs += MINUTE + 1;
    await wake.wake(at(0));
    expect((await runs('FAILED')).map(({ id }) => id)).toEqual(refused);
    expect(await runs()).toHaveLength(4);
    expect(await row()).toMatchObject({ lastOutcome: 'refused', started: 0, passedOver: 3, lastRunId: refused[2] });
  });

  it('TRIG-1: why an instant started nothing is kept whatever it quotes, and the schedule goes on', async () => {
    await schedule({ input: { at: 'now', '\0': '1' } }, 'strict');
    for (const hours of [0, 1]) expect((await wake.wake(at(hours))).errors).toEqual([]);
    expect(await row()).toMatchObject({
      lastOutcome: 'failed',
      lastError: expect.stringContaining('\ufffd'),
      passedOver: 2,
    });
  });

  it('TRIG-1: an instant whose input cannot be made, or is refused, starts nothing, and the next one is tried', async () => {
    await schedule({ input: { at: 'owner.name' } });
    await wake.wake(at(0));
    expect(await runs()).toEqual([]);
    expect(await row()).toMatchObject({ lastOutcome: 'failed', lastError: expect.stringContaining('owner') });
    await schedule({ input: { at: '1' } });
    await wake.wake(at(1));
    expect(await row()).toMatchObject({
      lastOutcome: 'failed',
      lastError: expect.stringContaining('at'),
      passedOver: 2,
    });
    await schedule({});
    await wake.wake(at(2));
    expect(await instants()).toEqual(iso(at(2)));
  });

  it('TRIG-1: a definition that this build does not know is left to others, and nothing is lost', async () => {
    await schedule({ catchUp: 'all' }, 'unknown');
    expect((await wake.wake(at(0))).errors).toEqual([]);
    const [claimed] = await store.claimSchedules(10, 2 * HOUR, 1).then(async (none) => {
      expect(none).toEqual([]);
      store.clockOffsetMs += MINUTE + 1;
      return store.claimSchedules(10, 2 * HOUR, 1);
    });
    expect(claimed!.cursor).toBeLessThan(hour);
  });

  it('TRIG-1: what a process that shuts down cannot start any more it hands back, for another one at once', async () => {
    for (const definitionId of ['nightly', 'strict']) await schedule({ catchUp: 'all' }, definitionId);
    const runtime = tester.app.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false });
    const engine = await runtime.ready();
    // One instant comes through.
    jest
      .spyOn(runtime, 'ready')
      .mockResolvedValueOnce(engine)
      .mockRejectedValue(new ShuttingDownError({ what: 'It' }));
    expect((await engine.runtime.pass.wake(at(1))).errors).toEqual([]);
    expect((await engine.runtime.pass.wake(at(1))).schedules).toBe(0);
    jest.restoreAllMocks();
    expect(await instants()).toEqual(iso(at(0)));
    const left = await store.claimSchedules(10, 2 * HOUR, MINUTE);
    expect(left.map(({ cursor }) => cursor === hour).sort()).toEqual([false, true]);
    const rows = await store.listTriggers({ limit: 10 }, { all: true });
    expect(rows.map(({ lastOutcome, passedOver }) => [lastOutcome, passedOver])).toEqual(
      expect.arrayContaining([
        ['started', 0],
        [null, 0],
      ]),
    );
  });

  it('OWNER-1: the run is its graph’s owner’s, and on nobody’s behalf', async () => {
    await schedule({ input: { at: 'now', for: 'owner' } }, 'nightly', 'acme');
    await wake.wake(at(0));
    const [run] = await runs();
    expect([run!.owner, run!.actor, (run!.input as { for: string }).for]).toEqual(['acme', null, 'acme']);
  });
});
