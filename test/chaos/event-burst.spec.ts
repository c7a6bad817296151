import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Pool } from 'pg';
import { WorkflowService, type EmitEvent } from 'nestjs-workflow-engine';
import { freshDatabase } from '../support/database.js';
import { brokenInvariants } from '../support/invariants.js';
import { forkProcess, type TestProcess } from '../support/processes.js';
import { burstModule, EventFlow, MOMENTS, SignalFlow, SIGNALS, WENT_ON } from './burst-flow.js';

const RUNS = 200;
const PROCESSES = 4;
const SIGNALLED = 60;

interface Moment {
  readonly runId: string;
  readonly n: number;
}

/** How the events of a run are sent, by its number: early ones before it starts. */
const CASES = ['early', 'twice', 'two events', 'once', 'once'] as const;
const caseOf = (n: number): (typeof CASES)[number] => CASES[n % CASES.length]!;
const numbers = Array.from({ length: RUNS }, (_, n) => n);

describe('four processes on one database', () => {
  let app: INestApplicationContext;
  let workflows: WorkflowService;
  let pool: Pool;
  let processes: TestProcess[];

  beforeAll(async () => {
    const database = await freshDatabase();
    const { url } = database;
    pool = database.openPool({ max: 2 });
    await pool.query(WENT_ON);
    const module = burstModule(url, { worker: false, wake: { every: false } });
    app = await NestFactory.createApplicationContext(module, { logger: false });
    workflows = app.get(WorkflowService);
    processes = Array.from({ length: PROCESSES }, () =>
      forkProcess('test/chaos/burst.process.ts', { env: { DATABASE_URL: url } }),
    );
    await Promise.all(processes.map((each) => each.waitFor('ready')));
  });
  afterAll(async () => {
    await Promise.all(processes.map((each) => each.kill()));
    await app.close();
    await pool.end();
  });

  const count = async (query: string): Promise<number> => (await pool.query(query)).rows[0].count as number;

  it('WAIT-3, WAIT-1: 200 runs whose events come in one burst, early, twice or doubled, each go on once', async () => {
    const early = numbers.filter((n) => caseOf(n) === 'early');
    await burst(early.map((n) => ({ key: `order:${n}`, payload: { n } })));
    const start = (of: readonly number[]) =>
      workflows.startMany(
        EventFlow,
        of.map((n) => ({ input: { n } })),
      );
    // Some wait already, some are about to, some are not even there.
    const half = numbers.filter((n) => n < RUNS / 2);
    const someWait = asleep(40);
    const first = await start(half);
    const waiting = await someWait;
    const begun = performance.now();
    const events = numbers.flatMap((n): EmitEvent[] => {
      const event: EmitEvent = { key: `order:${n}`, payload: { n } };
      if (caseOf(n) === 'early') return [];
      if (caseOf(n) === 'twice') return [1, 2].map(() => ({ ...event, messageId: `message ${n}` }));
      return caseOf(n) === 'two events' ? [event, event] : [event];
    });
    const [duplicates, second] = await Promise.all([burst(events), start(numbers.slice(half.length))]);
    const results = await Promise.all([...first, ...second].map(({ run }) => workflows.result(run)));
    const ms = Math.round(performance.now() - begun);
    console.info(
      `${events.length} events in one burst, at least ${waiting} of ${RUNS} runs waiting: all went on within ${ms} ms`,
    );

    expect(results).toEqual(numbers.map((n) => ({ n })));
    expect(duplicates).toBe(numbers.filter((n) => caseOf(n) === 'twice').length);
    const goneOn = await pool.query('SELECT n, count(*)::int AS times FROM went_on GROUP BY n ORDER BY n');
    expect(goneOn.rows).toEqual(numbers.map((n) => ({ n, times: 1 })));
    expect(await count(`SELECT count(*)::int FROM workflow_steps WHERE open OR status = 'waiting'`)).toBe(0);
    expect(await count('SELECT max(attempt)::int AS count FROM workflow_stage_runs')).toBe(1);
    expect(await brokenInvariants(pool)).toEqual({});
  });

  it('FAULT K26: signals against suspensions, 60 at the same time, are each delivered once, in their order', async () => {
    const begun = performance.now();
    const answers = signalsAtTheirMoments(SIGNALLED * SIGNALS);
    const started = await workflows.startMany(
      SignalFlow,
      Array.from({ length: SIGNALLED }, () => ({ input: { n: SIGNALS } })),
    );
    const results = await Promise.all(started.map(({ run }) => workflows.result(run)));
    const ms = Math.round(performance.now() - begun);
    const sums = await answers;
    const of = (n: number, status: string): number => sums[`${n} ${status}`] ?? 0;
    console.info(`${SIGNALLED} runs, ${SIGNALS} signals each, by number and answer, ${ms} ms: ${JSON.stringify(sums)}`);
    expect(results).toEqual(started.map(() => [1, 2, 3]));
    // Who is first where a body is about to wait is nobody's to say; before its sleep is written, no wait is there to meet.
    expect(of(MOMENTS.bodyWaits, 'delivered') + of(MOMENTS.bodyWaits, 'stored')).toBe(SIGNALLED);
    expect(of(MOMENTS.beforeSleep, 'stored')).toBe(SIGNALLED);
    expect(of(MOMENTS.asleep, 'delivered')).toBe(SIGNALLED);
    expect(await count(`SELECT count(*)::int FROM workflow_events WHERE run_id IS NOT NULL AND NOT taken`)).toBe(0);
    expect(await count(`SELECT count(*)::int FROM workflow_steps WHERE event_key = 'next'`)).toBe(SIGNALLED * SIGNALS);
    expect(await brokenInvariants(pool)).toEqual({});
  });

  /** Each signal is sent at its moment, by another process than the body's. Resolves with what came of so many, by number. */
  function signalsAtTheirMoments(wanted: number): Promise<Readonly<Record<string, number>>> {
    const sums: Record<string, number> = {};
    const bodies = new Map<string, TestProcess>();
    let answered = 0;
    return new Promise((resolve) => {
      for (const [at, body] of processes.entries()) {
        const sender = processes[(at + 1) % PROCESSES]!;
        void onEach<Moment>(body, 'moment', ({ runId, n }) => {
          // A body that goes through its waits again sends nothing again.
          const again = bodies.has(`${runId} ${n}`);
          bodies.set(`${runId} ${n}`, body);
          if (!again) sender.send('signal', { runId, n });
          else if (n === MOMENTS.beforeSleep) body.send('go on', { runId });
        });
        void onEach<Moment & { status: string }>(sender, 'signalled', ({ runId, n, status }) => {
          sums[`${n} ${status}`] = (sums[`${n} ${status}`] ?? 0) + 1;
          if (n === MOMENTS.beforeSleep) bodies.get(`${runId} ${n}`)!.send('go on', { runId });
          if (++answered === wanted) resolve(sums);
        });
      }
    });
  }

  /** Resolves with the number once so many stages have fallen asleep over an event. */
  function asleep(wanted: number): Promise<number> {
    let slept = 0;
    return new Promise((resolve) => {
      for (const each of processes) {
        void onEach(each, 'asleep', () => {
          if (++slept === wanted) resolve(wanted);
        });
      }
    });
  }

  /** Calls a function for every message of a type, until the process ends. */
  async function onEach<T extends object>(
    from: TestProcess,
    type: string,
    handle: (message: T) => void,
  ): Promise<void> {
    for (;;) {
      const message = await from.waitFor<T>(type).catch(() => undefined);
      if (message === undefined) return;
      handle(message);
    }
  }

  /** Emits all of them at once, from all processes. Returns how many were repeated messages. */
  async function burst(events: readonly EmitEvent[]): Promise<number> {
    const told = processes.map((each, at) => {
      each.send('emit', { events: shareOf(events, at) });
      return each.waitFor<{ duplicates: number }>('emitted');
    });
    return (await Promise.all(told)).reduce((sum, { duplicates }) => sum + duplicates, 0);
  }
});

const shareOf = <T>(items: readonly T[], at: number): T[] => items.filter((_, n) => n % PROCESSES === at);
