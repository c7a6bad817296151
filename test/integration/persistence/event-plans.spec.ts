import { createHash } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { createStatements } from '../../../lib/persistence/dialects/postgres/statements/index.js';
import { matchValues, nameValues } from '../../../lib/persistence/dialects/postgres/statements/fire-events.js';
import { NIL } from '../../../lib/persistence/dialects/postgres/statements/find-waits.js';
import { tableNames } from '../../../lib/persistence/table-names.js';
import { freshDatabase } from '../../support/database.js';

const ASLEEP = 100_000;
const DAY_MS = 86_400_000;
const t = tableNames();
const statements = createStatements(t);

interface Plan {
  readonly 'Index Name'?: string;
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Plan[];
}

interface Explained {
  readonly ms: number;
  readonly pages: number;
  readonly indexes: readonly string[];
  /** Tables that were read from end to end, of those that hold what sleeps. */
  readonly scans: readonly string[];
}

const FILLED = [t.runs, t.stageRuns, t.steps, t.events];
const isFilled = (relation: string): boolean => FILLED.includes(`"${relation}"`);

const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

async function explain(client: PoolClient, { text }: { text: string }, values: unknown[]): Promise<Explained> {
  let explained: Explained | undefined;
  // The first one warms the caches.
  for (let time = 0; time < 2; time += 1) {
    await client.query('BEGIN');
    const { rows } = await client.query({ text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values });
    await client.query('ROLLBACK');
    const [{ Plan: root, 'Execution Time': ms }] = rows[0]['QUERY PLAN'] as [{ Plan: Plan; 'Execution Time': number }];
    const nodes = nodesOf(root);
    explained = {
      ms,
      pages: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
      indexes: nodes.flatMap((node) => node['Index Name'] ?? []),
      scans: nodes
        .flatMap((node) => (node['Node Type'] === 'Seq Scan' ? (node['Relation Name'] ?? []) : []))
        .filter(isFilled),
    };
  }
  return explained!;
}

/**
 * Runs that all sleep: half of them wait for one event key, each about a subject of its own, half sleep until tomorrow. Beside them
 * as many events of that key about other subjects, as many rows of steps that are done, and nobody renewed statistics.
 */
async function fill(pool: Pool): Promise<void> {
  for (const table of FILLED) await pool.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
  const all = `FROM generate_series(1, ${ASLEEP}) n`;
  await pool.query(`INSERT INTO ${t.runs} (id, definition_id, definition_version, definition_key, status, input, owner_id, created_at, parent_run_id, parent_waits)
    SELECT md5('run' || n)::uuid, 'd', 1, 'd@1#f', 'RUNNING', 'null', 'acme', now() - interval '2 hours', md5('run' || n / 10)::uuid, true ${all}`);
  await pool.query(`INSERT INTO ${t.stageRuns} (id, run_id, node, position, key, stage, ordinal, status, queue, started_at)
    SELECT md5('stage' || n)::uuid, md5('run' || n)::uuid, 'a', 0, 'a', 'a', 1, 'SUSPENDED', 'default', now() - interval '1 hour' ${all}`);
  await pool.query(`INSERT INTO ${t.steps} (stage_run_id, key, run_id, owner_id, kind, status, open, due_at, event_key, subject_type, subject_id, checked)
    SELECT md5('stage' || n)::uuid, 'w', md5('run' || n)::uuid, 'acme', CASE WHEN n % 2 = 0 THEN 'event' ELSE 'sleep' END, 'waiting', true, now() + interval '1 day',
           CASE WHEN n % 2 = 0 THEN 'paid' END, CASE WHEN n % 2 = 0 THEN 'order' END, CASE WHEN n % 2 = 0 THEN n::text END, true ${all}`);
  await pool.query(`INSERT INTO ${t.steps} (stage_run_id, key, run_id, owner_id, kind, status, event_id)
    SELECT md5('stage' || n)::uuid, 'done', md5('run' || n)::uuid, 'acme', 'event', 'completed', md5('event' || n)::uuid ${all}`);
  await pool.query(`INSERT INTO ${t.events} (id, owner_id, key, subject_type, subject_id, payload, matched)
    SELECT md5('event' || n)::uuid, 'acme', 'paid', 'order', 'other' || n, '1', true ${all}`);
  await pool.query(
    `INSERT INTO ${t.events} (id, owner_id, key, subject_type, subject_id, payload) VALUES (md5('it')::uuid, 'acme', 'paid', 'order', '4000', '1')`,
  );
  await pool.query(`INSERT INTO ${t.steps} (stage_run_id, key, run_id, owner_id, kind, status, open, event_key)
    SELECT md5('stage' || n)::uuid, 's', md5('run' || n)::uuid, 'acme', 'signal', 'waiting', true, 'approve' FROM generate_series(1, 1000) n`);
}

/** What is asked for, by the owner that has all of it. */
const SQL = {
  probe: statements.probe,
  overdueEventWaits: statements.overdueEventWaits,
  olderUncheckedWaits: statements.olderUncheckedWaits,
  unmatchedEvents: statements.unmatchedEvents,
  pruneEvents: statements.pruneEvents,
  lockParents: statements.lockParents,
  findOrphans: statements.findOrphans,
  findStuck: statements.findStuck,
  findWaits: statements.findWaits.owned,
  findEvents: statements.findEvents.owned,
  findEventsOfSubject: statements.findEventsOfSubject.owned,
  fireEvents: statements.fireEvents,
  fireTimeouts: statements.fireTimeouts,
  sendSignal: statements.sendSignal,
};

const md5 = (text: string): string =>
  createHash('md5')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
const EVENT = md5('it');
const SIGNALLED = md5('run500');
const WAIT = { runId: md5('run4000'), stageRunId: md5('stage4000'), key: 'w' };

describe('beside 100,000 runs that sleep', () => {
  let pool: Pool;
  let client: PoolClient;

  beforeAll(async () => {
    pool = (await freshDatabase()).openPool({ max: 1 });
    await fill(pool);
    client = await pool.connect();
  }, 180_000);
  afterAll(async () => {
    client.release();
    await pool.end();
  });

  describe.each(['never analysed', 'analysed', 'as a generic plan'])('%s', (how) => {
    beforeAll(async () => {
      if (how === 'analysed') await client.query(`ANALYZE ${FILLED.join(', ')}`);
      if (how === 'as a generic plan') await client.query(`SET plan_cache_mode = force_generic_plan`);
    });

    const cases: readonly [string, keyof typeof SQL, () => unknown[], readonly string[], number][] = [
      [
        'WAKE-6: the probe',
        'probe',
        () => [0, 300_000, 0, 900_000, 0, 60_000, 7 * DAY_MS],
        [
          'steps_due',
          'steps_event_due',
          'steps_unchecked',
          'events_unmatched',
          'events_created',
          'runs_child_ended',
          'runs_orphans',
        ],
        150,
      ],
      ['WAKE-6: waits past their limit', 'overdueEventWaits', () => [0, 0, NIL, '', 100], ['steps_event_due'], 10],
      [
        'WAKE-6: waits past their limit, a later page',
        'overdueEventWaits',
        () => [0, 0, WAIT.stageRunId, 'w', 100],
        ['steps_event_due', 'steps_pkey'],
        20,
      ],
      [
        'WAKE-6: waits that nobody has checked',
        'olderUncheckedWaits',
        () => [0, 0, NIL, '', 100],
        ['steps_unchecked'],
        10,
      ],
      [
        'WAKE-6: waits that nobody has checked, a later page',
        'olderUncheckedWaits',
        () => [0, 0, WAIT.stageRunId, 'w', 100],
        ['steps_unchecked', 'steps_pkey'],
        20,
      ],
      [
        'WAKE-6: events that nobody has matched',
        'unmatchedEvents',
        () => [0, 0, '-infinity', NIL, 100],
        ['events_unmatched'],
        10,
      ],
      [
        'WAKE-6: events that nobody has matched, a later page',
        'unmatchedEvents',
        () => [0, 0, '2026-01-01T00:00:00Z', NIL, 100],
        ['events_unmatched'],
        10,
      ],
      ['WAKE-6: events kept for too long', 'pruneEvents', () => [0, 7 * DAY_MS, 100], ['events_created'], 10],
      ['WAKE-6: ended children', 'lockParents', () => [100], ['runs_child_ended'], 10],
      ['WAKE-6: orphans', 'findOrphans', () => [100], ['runs_orphans'], 20],
      [
        'WAKE-6: a slice of the search for stuck runs',
        'findStuck',
        () => [0, 900_000, null, 100],
        ['runs_open', 'steps_run'],
        1_500,
      ],
      [
        'WAIT-1: the waits that an event is for',
        'findWaits',
        () => [0, EVENT, 'paid', 'acme', 'order', '4000', NIL, NIL, '', 100],
        ['steps_event'],
        30,
      ],
      [
        'WAIT-3: the events that a wait is for',
        'findEventsOfSubject',
        () => [WAIT.stageRunId, 'w', 'paid', 'acme', 'order', '4000', NIL, 100],
        ['events_subject'],
        30,
      ],
      [
        'WAIT-3: a page of the events of a key',
        'findEvents',
        () => [WAIT.stageRunId, 'w', 'paid', 'acme', null, null, NIL, 100],
        ['events_key'],
        900,
      ],
      [
        'WAIT-2: the end of a wait by its event',
        'fireEvents',
        () => [0, ...matchValues([{ ...WAIT, eventId: EVENT }])],
        ['steps_pkey', 'steps_event_id'],
        120,
      ],
      [
        'WAIT-2: the end of a wait by its limit',
        'fireTimeouts',
        () => [0, 2 * DAY_MS, ...nameValues([WAIT])],
        ['steps_pkey'],
        120,
      ],
      [
        'WAIT-3: a signal',
        'sendSignal',
        () => [0, md5('signal'), 'approve', null, null, '1', null, SIGNALLED],
        ['steps_run'],
        150,
      ],
    ];

    it.each(cases)('%s: each by its index', async (_title, name, values, indexes, most) => {
      const explained = await explain(client, SQL[name], values());
      console.info(`${name}, ${how}: ${explained.ms.toFixed(1)} ms, ${explained.pages} pages`);
      expect(explained.indexes).toEqual(expect.arrayContaining(indexes.map((index) => `workflow_${index}`)));
      expect({ name, scans: explained.scans }).toEqual({ name, scans: [] });
      expect(explained.pages).toBeLessThan(most);
    });
  });
});
