import { WorkflowService, type WorkflowEvent } from 'nestjs-workflow-engine';
import { freshDatabase } from '../../support/database.js';
import { brokenInvariants } from '../../support/invariants.js';
import { forkProcess } from '../../support/processes.js';
import { timeLimitsByHand } from '../../support/time-limits.js';
import { until } from '../../support/until.js';
import { signal, startApp, withApp } from '../app.js';
import { AT_ONCE, flowOf, stageOf, told } from './scenes.js';

/** Takes nothing by the clock: what is found is found by what the engine itself says. */
const NO_TICKS = { worker: { pollInterval: '1h', concurrency: 50 }, wake: { every: false } } as const;

it('FAULT D4: children that end at the same time in four processes, three in each, all reach their parent', async () => {
  const [PROCESSES, EACH, ROUNDS] = [4, 3, 5];
  const database = await freshDatabase();
  const workflow = JSON.stringify({ worker: { concurrency: EACH, pollInterval: 100 }, wake: { every: 1_000 } });
  const processes = Array.from({ length: PROCESSES }, () =>
    forkProcess('test/e2e/faults/steps.process.ts', { env: { DATABASE_URL: database.url, WORKFLOW: workflow } }),
  );
  await Promise.all(processes.map((each) => each.waitFor('ready')));
  const children = Array.from({ length: PROCESSES * EACH }, (_, n) => n);
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    processes[0]!.send('start', { children });
    // Each process can hold three, so each holds three.
    await Promise.all(processes.flatMap((each) => Array.from({ length: EACH }, () => each.waitFor('entered'))));
    const begun = performance.now();
    for (const each of processes) each.send('open');
    const { result } = await processes[0]!.waitFor<{ result: number[] }>('ended');
    took.push(Math.round(performance.now() - begun));
    expect(result).toEqual(children.map((n) => n * 2));
  }
  const pool = database.openPool({ max: 1 });
  const stages = `SELECT attempt, resumes FROM workflow_stage_runs WHERE key = 'parent'`;
  const { rows } = await pool.query<{ attempt: number; resumes: number }>(stages);
  console.info(
    `parents were through after ${took.join(', ')} ms, resumed ${rows.map((row) => row.resumes).join(', ')} times`,
  );
  expect(rows.map(({ attempt }) => attempt)).toEqual(rows.map(() => 1));
  expect(Math.max(...rows.map(({ resumes }) => resumes))).toBeLessThanOrEqual(PROCESSES * EACH);
  expect(await brokenInvariants(pool)).toEqual({});
  await pool.end();
  await Promise.all(processes.map((each) => each.kill('SIGTERM')));
});

it('FAULT D14: 300 children cost their parent at most a resumption each, and no job more', async () => {
  const CHILDREN = 300;
  let passes = 0;
  const Child = stageOf('child', (ctx) => (ctx.input as number) * 2);
  const ChildFlow = flowOf('child-flow', [Child]);
  const Parent = stageOf('parent', ({ step }) => {
    passes++;
    const items = Array.from({ length: CHILDREN }, (_, n) => n);
    return step.all('children', items, (n, scope) => scope.runWorkflow('child', 'child-flow', n));
  });
  const ParentFlow = flowOf('parent-flow', [Parent]);
  const database = await freshDatabase();
  const pool = database.openPool({ max: 1 });
  await pool.query('CREATE TABLE jobs_made (stage_run_id uuid)');
  await pool.query(`CREATE FUNCTION note_job() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO jobs_made VALUES (NEW.stage_run_id); RETURN NEW; END $$`);
  await pool.query('CREATE TRIGGER note_job AFTER INSERT ON workflow_jobs FOR EACH ROW EXECUTE FUNCTION note_job()');
  const providers = [Child, ChildFlow, Parent, ParentFlow];
  await withApp({ database, providers, workflow: { worker: { concurrency: 50 } } }, async (app) => {
    const begun = performance.now();
    const result = await app.get(WorkflowService).startAndWait('parent-flow', null);
    const ms = Math.round(performance.now() - begun);
    const { rows } = await pool.query(`SELECT s.attempt, s.resumes, (SELECT count(*)::int FROM jobs_made) AS jobs
      FROM workflow_stage_runs s WHERE key = 'parent'`);
    const [{ attempt, resumes, jobs }] = rows as [{ attempt: number; resumes: number; jobs: number }];
    console.info(
      `${CHILDREN} children: ${jobs} jobs, ${resumes} resumptions, ${passes} passes over the body, ${ms} ms`,
    );
    expect(result).toEqual(Array.from({ length: CHILDREN }, (_, n) => n * 2));
    expect(attempt).toBe(1);
    expect(passes).toBe(resumes + 1);
    expect(resumes).toBeLessThanOrEqual(CHILDREN);
    // One for each child, one for the parent, one for each time that it goes on.
    expect(jobs).toBeLessThanOrEqual(CHILDREN + 1 + resumes);
    expect(await brokenInvariants(pool)).toEqual({});
  });
  await pool.end();
});

it('FAULT L7: ten steps at once, then two, a hundred times: each body once, each completion once', async () => {
  const ran: string[] = [];
  const Work = stageOf('work', async ({ run, step }) => {
    const does = (name: string): Promise<unknown> => step.run(name, () => void ran.push(`${run.id} ${name}`));
    await Promise.all(Array.from({ length: 10 }, (_, n) => does(`side ${n}`)));
    await does('then');
    await does('last');
  });
  const Flow = flowOf('flow', [Work]);
  const database = await freshDatabase();
  await withApp({ database, providers: [Work, Flow], workflow: NO_TICKS }, async (app) => {
    const workflows = app.get(WorkflowService);
    const ended: WorkflowEvent[] = [];
    const all = signal();
    workflows.events().subscribe((event) => {
      if (event.type === 'run:completed' && ended.push(event) === 100) all.resolve();
    });
    await workflows.startMany(
      Flow,
      Array.from({ length: 100 }, () => ({ input: null })),
    );
    await all.promise;
    expect(ran).toHaveLength(100 * 12);
    expect(new Set(ran).size).toBe(100 * 12);
    expect(new Set(ended.map(({ run }) => run.id)).size).toBe(100);
    const pool = database.openPool({ max: 1 });
    expect(await brokenInvariants(pool)).toEqual({});
    const { rows } = await pool.query('SELECT max(attempt)::int AS tries, count(*)::int AS steps FROM workflow_steps');
    expect(rows).toEqual([{ tries: 1, steps: 100 * 12 }]);
    await pool.end();
  });
});

it('FAULT L8: of 2,000 queued runs with a step and a sleep of 1 ms none is left waiting, by no tick and no poll', async () => {
  const RUNS = 2_000;
  const all = signal();
  let bodies = 0;
  const Work = stageOf('work', async ({ step }) => {
    await step.sleep('blink', 1);
    await step.run('work', () => void (++bodies === RUNS && all.resolve()));
  });
  const Flow = flowOf('flow', [Work]);
  const database = await freshDatabase();
  const providers = [Work, Flow];
  const web = await startApp({ database, providers, workflow: { worker: false, wake: { every: false } } });
  const workflows = web.get(WorkflowService);
  const started = await workflows.startMany(
    Flow,
    Array.from({ length: RUNS }, () => ({ input: null })),
  );
  const begun = performance.now();
  await withApp({ database, providers, workflow: NO_TICKS }, async (app) => {
    await all.promise;
    await Promise.all(started.map(({ run }) => app.get(WorkflowService).result(run)));
  });
  const seconds = (performance.now() - begun) / 1_000;
  const pool = database.openPool({ max: 1 });
  const late = `SELECT max(extract(epoch FROM fired_at - due_at))::float8 AS late FROM workflow_steps WHERE kind = 'sleep'`;
  const { rows } = await pool.query<{ late: number }>(late);
  console.info(
    `${RUNS} runs with a sleep of 1 ms drain at ${Math.round(RUNS / seconds)} a second, boot included; ` +
      `the latest woke ${Math.round(rows[0]!.late * 1_000)} ms late`,
  );
  expect(bodies).toBe(RUNS);
  expect(await brokenInvariants(pool)).toEqual({});
  await pool.end();
  await web.close();
});

it('FAULT C10: signals and events that come while a step runs begin no second attempt of it', async () => {
  const [entered, opened] = [signal(), signal()];
  let [passes, bodies] = [0, 0];
  const Work = stageOf('work', async ({ step }) => {
    passes++;
    const long = step.run('long', async () => {
      bodies++;
      entered.resolve();
      await opened.promise;
      return 'long';
    });
    return Promise.all([long, step.waitForSignal('note'), step.waitForEvent('news', { key: 'news' })]);
  });
  const Flow = flowOf('flow', [Work]);
  const Quick = stageOf('quick', () => null);
  const QuickFlow = flowOf('quick-flow', [Quick]);
  const database = await freshDatabase();
  const workflow = { worker: { pollInterval: 10 }, wake: { every: 50 } } as const;
  await withApp({ database, providers: [Work, Flow, Quick, QuickFlow], workflow }, async (app) => {
    const workflows = app.get(WorkflowService);
    const { run } = await workflows.start(Flow, null);
    await entered.promise;
    await expect(workflows.signal(run, 'other', 0)).resolves.toEqual({ status: 'stored' });
    const pool = database.openPool({ max: 1 });
    const open = (kind: string) => async (): Promise<boolean> =>
      (await pool.query('SELECT 1 FROM workflow_steps WHERE open AND kind = $1', [kind])).rowCount === 1;
    await until(open('signal'));
    await expect(workflows.signal(run, 'note', 1)).resolves.toEqual({ status: 'delivered' });
    await workflows.emit({ key: 'news', payload: 2 });
    await until(async () => !(await open('event')()));
    // Whoever looks for work has looked since.
    await workflows.startAndWait(QuickFlow, null);
    const stages = 'SELECT attempt, resumes, status FROM workflow_stage_runs WHERE run_id = $1';
    expect((await pool.query(stages, [run.id])).rows).toEqual([{ attempt: 1, resumes: 0, status: 'RUNNING' }]);
    expect([passes, bodies]).toEqual([1, 1]);
    opened.resolve();
    await expect(workflows.result(run)).resolves.toEqual(['long', 1, 2]);
    await pool.end();
  });
  expect(bodies).toBe(1);
  expect(passes).toBeLessThanOrEqual(2);
});

describe('FAULT F9: step 4 of 5 is cut off by the time limit of its stage', () => {
  const LIMIT_MS = 301_000;

  afterEach(() => jest.restoreAllMocks());

  /** The limit of the first attempt is over in its step 4, that of the second never. */
  async function ranWhen(fourth: (abortSignal: AbortSignal, tries: number) => Promise<void>): Promise<string[]> {
    const ran: string[] = [];
    const limits = timeLimitsByHand(LIMIT_MS);
    const Work = stageOf(
      'work',
      async ({ step }) => {
        for (let n = 1; n <= 5; n++) {
          await step.run(`step ${n}`, async ({ abortSignal }) => {
            ran.push(`step ${n}`);
            if (n !== 4) return;
            const tries = ran.filter((each) => each === 'step 4').length;
            const over = fourth(abortSignal, tries);
            if (tries === 1) limits.reach();
            await over;
          });
        }
        return 'through';
      },
      { timeout: LIMIT_MS, retry: AT_ONCE },
    );
    const Flow = flowOf('flow', [Work]);
    await withApp(
      { providers: [Work, Flow], workflow: { worker: { pollInterval: 50 }, wake: { every: 100 } } },
      async (app) => {
        const workflows = app.get(WorkflowService);
        const { run } = await workflows.start(Flow, null);
        await expect(workflows.result(run)).resolves.toBe('through');
        const { stages } = await workflows.history(run);
        expect(stages[0]!.failedAttempts).toMatchObject([{ code: 'STAGE_TIMEOUT' }]);
      },
    );
    return ran;
  }
  const ended = (abortSignal: AbortSignal): Promise<void> =>
    new Promise((resolve) => abortSignal.addEventListener('abort', () => resolve(), { once: true }));

  it('a body that obeys its signal: the next attempt begins with step 4', async () => {
    const ran = await ranWhen(async (abortSignal, tries) => {
      if (tries > 1) return;
      await ended(abortSignal);
      abortSignal.throwIfAborted();
    });
    expect(ran).toEqual(['step 1', 'step 2', 'step 3', 'step 4', 'step 4', 'step 5']);
  });

  it('a body that ends nevertheless: what it did counts, the next attempt goes on with step 5', async () => {
    const ran = await ranWhen((abortSignal, tries) => (tries > 1 ? Promise.resolve() : ended(abortSignal)));
    expect(ran).toEqual(['step 1', 'step 2', 'step 3', 'step 4', 'step 5']);
  });
});

it('STEP-7: a step that fails after another one failed the attempt runs again with the next one', async () => {
  const ran: string[] = [];
  const over = signal();
  const Work = stageOf(
    'work',
    ({ step, attempt }) =>
      Promise.all([
        step.run('first', () => {
          ran.push('first');
          if (attempt === 1) throw new Error('first is broken');
        }),
        step.run('second', async () => {
          ran.push('second');
          if (ran.filter((each) => each === 'second').length > 1) return;
          await over.promise;
          throw new Error('second is broken, too');
        }),
      ]).then(() => 'through'),
    { retry: { maxAttempts: 2, backoff: ['1ms'], jitter: 0 } },
  );
  const Flow = flowOf('flow', [Work]);
  await withApp({ providers: [Work, Flow], workflow: { wake: { every: 100 } } }, async (app) => {
    void told(app, 'stage:retrying').then(() => over.resolve());
    await expect(app.get(WorkflowService).startAndWait(Flow, null)).resolves.toBe('through');
  });
  expect(ran.sort()).toEqual(['first', 'first', 'second', 'second']);
});
