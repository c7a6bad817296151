import type { TestingModule } from '@nestjs/testing';
import {
  ApprovalsService,
  DefinitionsService,
  WakeService,
  WorkflowContext,
  WorkflowService,
  WorkflowSubject,
  type RunHandle,
} from 'nestjs-workflow-engine';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { EnginePool } from '../../../lib/persistence/engine-pool.js';
import { LIMITS_SENDING } from '../../support/database.js';
import { findPgbouncer, startPooler, type Pooler } from '../../support/pgbouncer.js';
import { until } from '../../support/until.js';
import { buildGuardedApp, inRequestOf } from './guarded-app.js';
import { guardedDatabase, openAs, PASSWORD, type GuardedDatabase } from './guarded-database.js';

@Entity({ name: 'bills' })
@WorkflowSubject({ type: 'bill', owner: 'teamId', writable: ['first', 'second'] })
class Bill {
  @PrimaryColumn('text') id!: string;
  @Column('text', { name: 'team_id' }) teamId!: string;
  @Column('text', { nullable: true }) first!: string | null;
  @Column('text', { nullable: true }) second!: string | null;
}

const OWNERS = ['acme', 'other'];
const RUNS = 24;
const DAY_MS = 86_400_000;
const LIMITS = {
  name: 'limits',
  text: `SELECT current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('tcp_user_timeout') AS send`,
};

/** Both have to agree within five days; then two nodes at once write to the bill, with conditions before them. */
const BILLING = {
  id: 'billing',
  nodes: [
    {
      ...{ id: 'sign', type: 'approval', config: { approvers: ['u1', 'u2'], rule: 'all', expires: '5 days' } },
      escalations: [{ after: '2 days', action: { type: 'notify', to: ['boss'], message: 'It waits.' } }],
    },
    { id: 'both', type: 'parallel', config: { join: 'all', branches: [{ outcome: 'one' }, { outcome: 'two' }] } },
    { id: 'really', type: 'condition', config: { if: 'input.nr >= 0' } },
    { id: 'first', type: 'set_field', config: { field: 'first', value: '"nr " + string(input.nr)' } },
    { id: 'second', type: 'set_field', config: { field: 'second', value: 'string(input.nr)' } },
    ...['paid', 'refused', 'late'].map((outcome) => ({ id: outcome, type: 'end', config: { outcome } })),
  ],
  edges: [
    { from: 'sign', outcome: 'approved', to: 'both' },
    { from: 'sign', outcome: 'rejected', to: 'refused' },
    { from: 'sign', outcome: 'expired', to: 'late' },
    { from: 'both', outcome: 'one', to: 'really' },
    { from: 'really', outcome: 'true', to: 'first' },
    { from: 'really', outcome: 'false', to: 'both' },
    { from: 'first', to: 'both' },
    { from: 'both', outcome: 'two', to: 'second' },
    { from: 'second', to: 'both' },
    { from: 'both', to: 'paid' },
  ],
};

const program = findPgbouncer();

(program === undefined ? describe.skip : describe)('graphs through PgBouncer in transaction mode', () => {
  let database: GuardedDatabase;
  let pooler: Pooler;
  let app: TestingModule;

  beforeAll(async () => {
    database = await guardedDatabase('switching');
    const admin = database.openPool({ max: 1 });
    await admin.query(`CREATE TABLE bills (id text PRIMARY KEY, team_id text NOT NULL, first text, second text);
      INSERT INTO bills SELECT n::text, (ARRAY['${OWNERS.join("', '")}'])[n % 2 + 1] FROM generate_series(0, ${RUNS - 1}) n;
      GRANT SELECT, UPDATE ON bills TO "${database.app}"; ALTER TABLE bills ENABLE ROW LEVEL SECURITY;
      CREATE POLICY own ON bills USING (team_id = current_setting('app.owner_id', true))`);
    await admin.query(`ALTER ROLE "${database.app}" SET idle_in_transaction_session_timeout = '7s'`);
    await admin.end();
    pooler = await startPooler(program!, { users: { [database.app]: PASSWORD }, poolSize: 5 });
    const dataSourceOptions = { ...database.dataSourceOptions, entities: [Bill] };
    const urlOf = (role: string): string => pooler.through(database.urlOf(role));
    const worker = { concurrency: 20, notify: false, pollInterval: '50ms' } as const;
    app = await buildGuardedApp({ ...database, dataSourceOptions, urlOf }, 'switching', { worker }, []);
    await app.init();
  });
  afterAll(async () => {
    await app.close();
    await pooler.stop();
    await database.dropAll();
  });

  /** As a request of somebody who works for an owner. */
  const as = <T>(owner: string, id: string, work: () => Promise<T>): Promise<T> =>
    inRequestOf(owner, () => {
      app.get(WorkflowContext).setActor({ id });
      return work();
    });

  it('APPR-2, ESC-1, GRP-2, OWNER-4: rounds of two owners end by two at once, by a no, by a cancel, by their time', async () => {
    const [workflows, approvals] = [app.get(WorkflowService), app.get(ApprovalsService)];
    for (const owner of OWNERS) await as(owner, 'boss', () => app.get(DefinitionsService).publish(BILLING));
    const decide = (owner: string, id: string, round: string, answer: 'approved' | 'rejected' = 'approved') =>
      as(owner, id, () => approvals.decide(round, answer));
    const ends = [
      (owner: string, round: string) => Promise.all([decide(owner, 'u1', round), decide(owner, 'u2', round)]),
      (owner: string, round: string) => decide(owner, 'u2', round, 'rejected'),
      (owner: string, _round: string, run: RunHandle) => as(owner, 'boss', () => workflows.cancel(run)),
      () => Promise.resolve(),
    ];
    const ofKind = (nr: number): number => (nr >> 1) % ends.length;
    const runs = await Promise.all(
      Array.from({ length: RUNS }, async (_, nr) => {
        const owner = OWNERS[nr % 2]!;
        const { run } = await as(owner, 'ann', () =>
          workflows.start('billing', { nr }, { subject: { type: 'bill', id: `${nr}` } }),
        );
        const ask = await until(async () =>
          (await as(owner, 'u1', () => approvals.inbox())).asks.find(({ runId }) => runId === run.id),
        );
        await ends[ofKind(nr)]!(owner, ask.round, run);
        return { nr, owner, run };
      }),
    );
    const resultOf = ({ owner, run }: (typeof runs)[number]): Promise<unknown> =>
      as(owner, 'ann', () => workflows.result(run)).catch((error: { code?: string }) => error.code);
    const decided = runs.filter(({ nr }) => ofKind(nr) !== 3);
    const expected = [{ outcome: 'paid' }, { outcome: 'refused' }, 'RUN_CANCELLED', { outcome: 'late' }];
    for (const one of decided) expect(await resultOf(one)).toEqual(expected[ofKind(one.nr)]);
    // Nobody but those who wait for their time has anything left that could be due.
    await app.get(WakeService).wake(new Date(Date.now() + 6 * DAY_MS));
    for (const one of runs) expect(await resultOf(one)).toEqual(expected[ofKind(one.nr)]);

    const admin = database.openPool({ max: 1 });
    const escalations = `SELECT (r.input ->> 'nr')::int AS nr, s.status FROM workflow_stage_runs s JOIN workflow_runs r ON r.id = s.run_id WHERE s.key = 'sign#1' ORDER BY 1`;
    const statuses = Array.from({ length: RUNS }, (_, nr) => [nr, ofKind(nr) === 3 ? 'told or over' : 'CANCELLED']);
    expect(
      (await admin.query<{ nr: number; status: string }>(escalations)).rows.map(({ nr, status }) => [
        nr,
        // The time of the round may be over before anybody was told of it: both come due in one pass.
        ofKind(nr) === 3 && ['COMPLETED', 'CANCELLED'].includes(status) ? 'told or over' : status,
      ]),
    ).toEqual(statuses);
    const bills = await admin.query<Bill>('SELECT id, first, second FROM bills ORDER BY id::int');
    expect(bills.rows).toEqual(
      runs.map(({ nr }) =>
        ofKind(nr) === 0
          ? { id: `${nr}`, first: `nr ${nr}`, second: `${nr}` }
          : { id: `${nr}`, first: null, second: null },
      ),
    );
    const left = `SELECT (SELECT count(*)::int FROM workflow_jobs WHERE kind = 0) AS jobs, (SELECT count(*)::int FROM workflow_steps WHERE open) AS waits,
      (SELECT count(*)::int FROM workflow_approval_asks WHERE open) AS asks, (SELECT count(*)::int FROM workflow_approval_rounds WHERE status = 'open') AS rounds,
      (SELECT count(*)::int FROM workflow_attempts) AS failed`;
    expect((await admin.query(left)).rows).toEqual([{ jobs: 0, waits: 0, asks: 0, rounds: 0, failed: 0 }]);
    await admin.end();
    expect(pooler.log).not.toMatch(/prepared statement/i);
  });

  it("LEASE-3: the role's own limit holds there too, and ours are left on nobody's session", async () => {
    const host = await openAs({ ...database, urlOf: (role) => pooler.through(database.urlOf(role)) }, database.app);
    const pool = await EnginePool.open(host, { warn: () => undefined });
    const ours = { idle: '7s', send: LIMITS_SENDING ? '30000' : '0' };
    for (let turn = 0; turn < 5; turn += 1) {
      expect(await pool.transaction((query) => query(LIMITS))).toEqual([ours]);
      expect(await host.query(LIMITS.text)).toEqual([{ idle: '7s', send: '0' }]);
    }
    await pool.close();
    await host.destroy();
  });
});
