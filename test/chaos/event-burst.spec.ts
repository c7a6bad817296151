import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Pool } from 'pg';
import { WorkflowService, type EmitEvent } from 'nestjs-workflow-engine';
import { freshDatabase } from '../support/database.js';
import { brokenInvariants } from '../support/invariants.js';
import { forkProcess, type TestProcess } from '../support/processes.js';
import { burstModule, EventFlow, SignalFlow, WENT_ON } from './burst-flow.js';

const RUNS = 200;
const PROCESSES = 4;
const SIGNALLED = 60;
const SIGNALS = 3;

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
  }, 120_000);
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
    const first = await start(half);
    const waiting = await someWait(40);
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
      `${events.length} events in one burst, ${waiting} of ${RUNS} runs waiting: all went on within ${ms} ms`,
    );

    expect(results).toEqual(numbers.map((n) => ({ n })));
    expect(duplicates).toBe(numbers.filter((n) => caseOf(n) === 'twice').length);
    const goneOn = await pool.query('SELECT n, count(*)::int AS times FROM went_on GROUP BY n ORDER BY n');
    expect(goneOn.rows).toEqual(numbers.map((n) => ({ n, times: 1 })));
    expect(await count(`SELECT count(*)::int FROM workflow_steps WHERE open OR status = 'waiting'`)).toBe(0);
    expect(await count('SELECT max(attempt)::int AS count FROM workflow_stage_runs')).toBe(1);
    expect(await brokenInvariants(pool)).toEqual({});
  }, 120_000);

  it('FAULT K26: signals against suspensions, 60 at the same time, are each delivered once, in their order', async () => {
    const begun = performance.now();
    const sums = { delivered: 0, stored: 0, duplicate: 0 };
    const sent = new Set<string>();
    for (const [at, each] of processes.entries()) void meet(each, processes[(at + 1) % PROCESSES]!, sent);
    for (const each of processes) void tally(each, sums);
    const started = await workflows.startMany(
      SignalFlow,
      Array.from({ length: SIGNALLED }, () => ({ input: { n: SIGNALS } })),
    );
    const results = await Promise.all(started.map(({ run }) => workflows.result(run)));
    const ms = Math.round(performance.now() - begun);
    console.info(
      `${SIGNALLED} runs, ${SIGNALS} signals each: ${sums.delivered} met a wait, ${sums.stored} came before it, ${ms} ms`,
    );
    expect(results).toEqual(started.map(() => [1, 2, 3]));
    expect(sent.size).toBe(SIGNALLED * SIGNALS);
    expect(sums.duplicate).toBe(0);
    expect(await count(`SELECT count(*)::int FROM workflow_events WHERE run_id IS NOT NULL AND NOT taken`)).toBe(0);
    expect(await count(`SELECT count(*)::int FROM workflow_steps WHERE event_key = 'next'`)).toBe(SIGNALLED * SIGNALS);
    expect(await brokenInvariants(pool)).toEqual({});
  }, 120_000);

  /** Whenever a body of one process is about to wait for a signal, another process sends it, the first time. */
  async function meet(body: TestProcess, sender: TestProcess, sent: Set<string>): Promise<void> {
    for (;;) {
      const { runId, n } = await body.waitFor<{ runId: string; n: number }>('waits').catch(() => ({ runId: '', n: 0 }));
      if (n === 0) return;
      if (sent.has(`${runId} ${n}`)) continue;
      sent.add(`${runId} ${n}`);
      // At once, or when it is just being suspended, or when it sleeps.
      setTimeout(() => sender.send('signal', { runId, n }), Math.random() * 60);
    }
  }

  async function tally(sender: TestProcess, sums: Record<string, number>): Promise<void> {
    for (;;) {
      const { status } = await sender.waitFor<{ status: string }>('signalled').catch(() => ({ status: '' }));
      if (status === '') return;
      sums[status]!++;
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

  async function someWait(wanted: number): Promise<number> {
    for (;;) {
      const waiting = await count(`SELECT count(*)::int FROM workflow_steps WHERE open`);
      if (waiting >= wanted) return waiting;
    }
  }
});

const shareOf = <T>(items: readonly T[], at: number): T[] => items.filter((_, n) => n % PROCESSES === at);
