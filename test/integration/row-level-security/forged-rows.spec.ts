import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { ClaimedJob, NewRun, OwnerScope } from '../../../lib/engine/ports/index.js';
import { EnginePool } from '../../../lib/persistence/engine-pool.js';
import { checkRowLevelSecurity } from '../../../lib/persistence/row-level-security/boot-check.js';
import { GuardedSessions } from '../../../lib/persistence/row-level-security/owner-sessions.js';
import { PostgresStore, tableNames } from '../../../lib/persistence/index.js';
import {
  adding,
  ask,
  deciding,
  inbox,
  newRound,
  openRound,
  placeOf,
  read,
} from '../../../lib/testing/conformance/approval-builders.js';
import { newStageRun, newTransition } from '../../../lib/testing/conformance/builders.js';
import { StoreUnderTest } from '../../../lib/testing/conformance/store-under-test.js';
import {
  begin,
  childWait,
  eventWait,
  finish,
  newSignal,
  signalWait,
  suspending,
} from '../../../lib/testing/conformance/step-builders.js';
import { asOwner, guardedDatabase, openAs, poolAs, type GuardedDatabase } from './guarded-database.js';

const ACME = { owner: 'acme' };
const EVERYBODY: OwnerScope = { all: true };

/**
 * What somebody with a session of one owner (`forger`) can write who knows the ids of another owner's run: rows of his own that
 * name it.
 */
describe('rows that somebody forged', () => {
  let database: GuardedDatabase;
  let app: DataSource;
  let forger: Pool;
  let admin: Pool;
  let on: StoreUnderTest;

  beforeAll(async () => {
    database = await guardedDatabase();
    app = await openAs(database, database.app);
    forger = poolAs(database, database.app);
    admin = database.openPool();
    const pool = await EnginePool.open(app);
    pool.actAs(await checkRowLevelSecurity({ app: pool, engine: pool }, tableNames()));
    const store = new PostgresStore(pool, tableNames(), new GuardedSessions({ app: pool, engine: pool }, tableNames()));
    on = new StoreUnderTest({ store, close: () => store.close() });
  });

  afterEach(async () => {
    const tables = [
      'runs',
      'stage_runs',
      'jobs',
      'steps',
      'events',
      'outbox',
      'node_visits',
      'idempotency_keys',
      'annotations',
      'approval_rounds',
      'approval_asks',
      'approval_decisions',
    ];
    await admin.query(tables.map((table) => `DELETE FROM workflow_${table}`).join('; '));
  });

  afterAll(async () => {
    await on.close();
    await admin.end();
    await forger.end();
    await app.destroy();
    await database.dropAll();
  });

  const forge = (text: string, ...values: unknown[]): Promise<unknown> =>
    asOwner(forger, 'forger', (client) => client.query(text, values));
  const started = (given: Partial<NewRun> = {}): Promise<ClaimedJob> => on.startAndClaim({ ownerId: 'acme', ...given });
  const forgeJob = (runId: string, stageRunId: string, more = ''): Promise<unknown> =>
    forge(
      `INSERT INTO workflow_jobs (id, owner_id, run_id, stage_run_id, definition_key, queue, priority${more && ', state, run_at'})
       VALUES ($1, 'forger', $2, $3, 'documents@1#f1', 'default', 9${more})`,
      randomUUID(),
      runId,
      stageRunId,
    );
  const forgeStep = (job: ClaimedJob, key: string, columns: Record<string, unknown>): Promise<unknown> => {
    const given = {
      owner_id: 'forger',
      run_id: job.run.id,
      stage_run_id: job.stageRun.id,
      key,
      kind: 'run',
      status: 'completed',
      ...columns,
    };
    const names = Object.keys(given);
    return forge(
      `INSERT INTO workflow_steps (${names.join(', ')}) VALUES (${names.map((_, nr) => `$${nr + 1}`).join(', ')})`,
      ...Object.values(given),
    );
  };
  const forgeAsk = (job: ClaimedJob, roundId: string, approver: string): Promise<unknown> =>
    forge(
      `INSERT INTO workflow_approval_asks (owner_id, run_id, round_id, stage, approver, place, groups, weight, holder, path, open)
       VALUES ('forger', $1, $2, 0, $3, 9, '[]', 1, 'forger', '[]', true)`,
      job.run.id,
      roundId,
      approver,
    );
  const statusOf = async (job: ClaimedJob): Promise<unknown> =>
    (await on.store.readFences([job.stageRun.id]))[0]?.status;
  const suspended = async (given: Partial<NewRun> = {}): Promise<ClaimedJob> => {
    const job = await started(given);
    await on.suspend(suspending(job, [signalWait('w', { eventKey: 'signed' })]));
    expect(await statusOf(job)).toBe('SUSPENDED');
    return job;
  };

  it('OWNER-4: a job for a stage run that waits to be claimed is an orphan, and the true one is claimed', async () => {
    const run = await on.start({ ownerId: 'acme' });
    const stageRunId = run.transition.stageRuns[0]!.id;
    await forgeJob(run.id, stageRunId);
    const { claimed, discarded } = await on.claim();
    expect(discarded).toEqual([expect.objectContaining({ stageRunId, ghost: 'orphan' })]);
    expect(claimed.map((job) => [job.stageRun.id, job.run.ownerId])).toEqual([[stageRunId, 'acme']]);
    expect((await admin.query(`SELECT owner_id FROM workflow_jobs`)).rows).toEqual([{ owner_id: 'acme' }]);
  });

  it("OWNER-4: neither a transport, nor a stage run that was forged with its job, nor a run of the forger's own makes it one", async () => {
    const run = await on.start({ ownerId: 'acme' });
    const stageRunId = run.transition.stageRuns[0]!.id;
    const own = await on.start({ ownerId: 'forger' });
    await forgeJob(run.id, stageRunId);
    await forgeJob(own.id, stageRunId);
    const forged = randomUUID();
    await forge(
      `INSERT INTO workflow_stage_runs (id, owner_id, run_id, node, position, key, stage, ordinal, status) VALUES ($1, 'forger', $2, 'first', 0, 'first', 'first-stage', 7, 'PENDING')`,
      forged,
      run.id,
    );
    await forgeJob(run.id, forged);
    const sent = await on.store.takeUnsent(100);
    expect(new Set(sent.map((job) => job.stageRunId))).toEqual(new Set([stageRunId, own.transition.stageRuns[0]!.id]));
    const taken = await on.store.claimStageRun(stageRunId, 'worker-a');
    expect(taken).toMatchObject({ run: { ownerId: 'acme' } });
    expect(await on.store.claimStageRun(forged, 'worker-a')).toEqual(expect.any(String));
    expect((await on.history(run.id)).stageRuns.map(({ id }) => id)).toEqual([stageRunId]);
  });

  it('OWNER-4: a delayed job does not begin a run before its time, and goes', async () => {
    const run = await on.start({ ownerId: 'acme', delayMs: 3_600_000 });
    await forgeJob(run.id, run.transition.stageRuns[0]!.id, `, 2, now() - interval '1 hour'`);
    await on.store.promoteDelayed(100, 0);
    expect((await on.store.getRun(run.id, EVERYBODY))?.status).toBe('PENDING');
    expect(await on.isAnythingDue()).toBe(false);
    expect((await admin.query(`SELECT owner_id FROM workflow_jobs`)).rows).toEqual([{ owner_id: 'acme' }]);
  });

  it('OWNER-4: an outcome of a step is not in the ledger that a body gets, nor in the way of the true one', async () => {
    const job = await started();
    await forgeStep(job, 'fetch', { result: '"forged"', seq: 1 });
    await forgeStep(job, 'pay', { result: '"forged"', seq: 2 });
    expect(await on.store.readLedger([job.stageRun.id])).toEqual([]);
    expect(await on.write(begin(job, 'fetch'), begin(job, 'pay'))).toEqual(['written', 'written']);
    expect(await on.write(finish(job, 'fetch'))).toEqual(['written']);
    const { rows } = await admin.query(`SELECT key, owner_id, status FROM workflow_steps ORDER BY key`);
    expect(rows).toEqual([
      { key: 'fetch', owner_id: 'acme', status: 'completed' },
      { key: 'pay', owner_id: 'acme', status: 'running' },
    ]);
  });

  it("OWNER-4: nor in the way of a wait, or of a write in the host's transaction", async () => {
    const job = await started();
    await forgeStep(job, 'w', { kind: 'signal', status: 'waiting', open: true, event_key: 'other' });
    await on.suspend(suspending(job, [signalWait('w', { eventKey: 'signed' })]));
    expect(await statusOf(job)).toBe('SUSPENDED');
    expect(await on.store.sendSignal(newSignal({ key: 'signed' }), job.run.id, ACME)).toBe('delivered');

    const other = await started();
    await forgeStep(other, 'book', { result: '"forged"', seq: 1 });
    const write = finish(other, 'book', { kind: 'transaction', begun: false });
    const tries: string[] = [];
    while (tries.at(-1) !== 'written' && tries.length < 3) {
      await app.transaction(async (manager) => {
        await manager.query(`SELECT set_config('app.owner_id', 'acme', true)`);
        tries.push(await on.store.writeWithin(write, { query: (sql, values) => manager.query(sql, values) }));
      });
    }
    expect(tries).toEqual(['busy', 'written']);
  });

  it('OWNER-4: a signal that lies there reaches nobody, and is not before the true one', async () => {
    const job = await started();
    const signal = (runId: string): Promise<unknown> =>
      forge(
        `INSERT INTO workflow_events (id, owner_id, run_id, key, payload) VALUES ($1, 'forger', $2, 'signed', '"forged"')`,
        randomUUID(),
        runId,
      );
    await signal(job.run.id);
    await on.suspend(suspending(job, [signalWait('w', { eventKey: 'signed' })]));
    expect(await statusOf(job)).toBe('SUSPENDED');
    await signal(job.run.id);
    expect(await on.store.answerWaits({ runId: job.run.id, stageRunId: job.stageRun.id })).toBe(0);
    expect(await on.store.sendSignal(newSignal({ key: 'signed', payload: '"true"' }), job.run.id, EVERYBODY)).toBe(
      'delivered',
    );
    expect((await on.step(job, 'w'))?.result).toBe('"true"');
  });

  it("OWNER-4: a wait of the forger's own wakes no stage of another's, whatever ends it", async () => {
    const job = await suspended();
    const past = new Date(Date.now() - 60_000);
    await forgeStep(job, 'timer', { kind: 'sleep', status: 'waiting', open: true, due_at: past });
    await forgeStep(job, 'event', { kind: 'event', status: 'waiting', open: true, event_key: 'mine', due_at: past });
    const own = await started({ ownerId: 'forger' });
    await forgeStep(own, 'elsewhere', {
      stage_run_id: job.stageRun.id,
      kind: 'sleep',
      status: 'waiting',
      open: true,
      due_at: past,
    });
    await on.store.fireDue(100, 0);
    const event = { ...newSignal({ key: 'mine', ownerId: 'forger' }), messageDigest: null };
    await on.store.storeEvent(event);
    const { waits } = await on.store.findWaits(event, null, 10);
    await on.store.fireEvents(waits.map((wait) => ({ ...wait, eventId: event.id })));
    await on.store.fireTimeouts(await on.store.overdueEventWaits(10, 0), 0);
    expect(await statusOf(job)).toBe('SUSPENDED');
  });

  it('OWNER-4: an event is not taken for one that the run had already', async () => {
    const job = await started();
    await on.suspend(suspending(job, [eventWait('w', { eventKey: 'paid' })]));
    const event = { ...newSignal({ key: 'paid', ownerId: 'acme' }), messageDigest: null };
    await on.store.storeEvent(event);
    await forgeStep(job, 'had', { event_id: event.id });
    const { waits } = await on.store.findWaits(event, null, 10);
    expect((await on.store.fireEvents(waits.map((wait) => ({ ...wait, eventId: event.id })))).fired).toHaveLength(1);
  });

  it("OWNER-4: a run is nobody's child by its own word, and sees nothing of the run that it names", async () => {
    const parent = await started();
    await on.suspend(suspending(parent, [childWait('child', randomUUID())]));
    const own = await on.start({ ownerId: 'forger' });
    await forge(
      `UPDATE workflow_runs SET parent_run_id = $1, parent_stage_run_id = $2, parent_step = 'child', parent_waits = true, status = 'COMPLETED', output = '"forged"', finished_at = now() WHERE id = $3`,
      parent.run.id,
      parent.stageRun.id,
      own.id,
    );
    expect(await on.store.deliverChildren(10)).toMatchObject({ delivered: 0 });
    expect(await statusOf(parent)).toBe('SUSPENDED');
    const open = await on.start({ ownerId: 'forger' });
    await forge(
      `UPDATE workflow_runs SET parent_run_id = $1, parent_waits = true, cancel_asked = true WHERE id = $2`,
      parent.run.id,
      open.id,
    );
    await on.cancel(parent.run.id);
    expect(await on.store.findOrphans(10)).toEqual([]);
    expect((await admin.query('SELECT id FROM workflow_runs WHERE cancel_asked')).rows).toEqual([]);
  });

  it("OWNER-4: another owner's output does not come as that of a child", async () => {
    const theirs = await started({ awaited: false });
    await on.change(theirs.run.id, newTransition({ run: { to: 'COMPLETED', output: '"secret"' }, cancelOpen: true }));
    const own = await started({ ownerId: 'forger' });
    await on.suspend(suspending(own, [signalWait('w', { eventKey: 'x' })]));
    await forgeStep(own, 'peek', {
      kind: 'child',
      status: 'waiting',
      open: true,
      child_run_id: theirs.run.id,
      due_at: new Date(0),
      expires_at: new Date(Date.now() + 60_000),
    });
    await on.store.answerWaits({ runId: own.run.id, stageRunId: own.stageRun.id });
    await on.store.fireDue(10, 0);
    const { rows } = await admin.query(
      `SELECT key, result FROM workflow_steps WHERE owner_id = 'forger' AND result IS NOT NULL`,
    );
    expect(rows).toEqual([]);
  });

  it('OWNER-4: a dead letter that names a run of another owner is listed to nobody, and its replay is in no audit log', async () => {
    const job = await started();
    await forge(
      `INSERT INTO workflow_outbox (owner_id, run_id, slot, events, state) VALUES ('forger', $1, 0, '[{"type":"run:completed"}]', 1)`,
      job.run.id,
    );
    const { rows } = await admin.query<{ id: string }>(
      `SELECT id::text AS id FROM workflow_outbox WHERE run_id = $1 AND owner_id = 'forger'`,
      [job.run.id],
    );
    expect(rows).toHaveLength(1);
    expect(await on.store.listDeadLetters(10)).toEqual([]);
    const letters: unknown[] = [];
    const replayed = await on.store.replayDeadLetters([rows[0]!.id], (letter) => {
      letters.push(letter);
      throw new Error('Nobody is to be told of it.');
    });
    expect({ replayed, letters }).toEqual({ replayed: 0, letters: [] });
  });

  it('OWNER-4: what is decided from the rows of a run, and told of it, knows of none of them', async () => {
    const job = await started();
    await forge(
      `INSERT INTO workflow_stage_runs (id, owner_id, run_id, node, position, key, stage, ordinal, status, output) VALUES ($1, 'forger', $2, 'earlier', 0, 'earlier', 's', 9, 'COMPLETED', '"forged"')`,
      randomUUID(),
      job.run.id,
    );
    await forge(
      `INSERT INTO workflow_outbox (owner_id, run_id, slot, events) SELECT 'forger', $1, generate_series(0, 15), '[{"type":"run:completed"}]'`,
      job.run.id,
    );
    await forge(
      `INSERT INTO workflow_annotations (id, owner_id, run_id, key, value, scope) VALUES ($1, 'forger', $2, 'approved', 'true', 'run')`,
      randomUUID(),
      job.run.id,
    );
    const next = newStageRun({ key: 'second', ordinal: 2 });
    let seen: string[] = [];
    await on.store.changeRun(job.run.id, EVERYBODY, ({ state }) => {
      seen = state.stageRuns.map(({ key }) => key);
      return { transition: newTransition({ stageRuns: [next] }), answer: null };
    });
    expect(seen).toEqual(['first']);
    const second = await on.claimOne();
    expect(second.earlier.map(({ key }) => key)).not.toContain('earlier');
    const slots = await on.store.leaseSlots('relay', 60_000, 16);
    const told = await on.store.readOutbox('relay', slots, 100);
    expect(new Set(told.map(({ ownerId }) => ownerId))).toEqual(new Set(['acme']));
    expect((await on.history(job.run.id)).annotations).toEqual([]);
    const page = {
      runId: job.run.id,
      keyPrefix: undefined,
      scope: undefined,
      actor: undefined,
      attempt: undefined,
      since: undefined,
      until: undefined,
      before: undefined,
      limit: 10,
    };
    expect(await on.store.listAnnotations(page as never, EVERYBODY)).toEqual([]);
  });

  it('OWNER-4: a round of approval is not over by the wait of another, nor are its people spared or kept from deciding', async () => {
    const job = await started();
    const round = await openRound(on, job);
    await forgeStep(job, 'decision', { kind: 'signal', event_key: `approval:${round.id}`, timed_out: true });
    expect((await read(on, round)).status).toBe('open');
    await forge(
      `INSERT INTO workflow_approval_decisions (owner_id, run_id, round_id, id, stage, approver, decided_by, answer)
       VALUES ('forger', $1, $2, 'd', 0, 'u2', 'u2', 'rejected')`,
      job.run.id,
      round.id,
    );
    expect((await ask(on, round, deciding('u1'))).answer).toBe('changed');
    expect(await inbox(on, 'u2')).toEqual([round.id]);
    // Under the very id of the forged one.
    expect((await ask(on, round, deciding('u2', 'approved', 'd'), { scope: ACME })).answer).toBe('changed');
    expect((await ask(on, round, deciding('u2', 'approved', 'd'), { scope: ACME })).answer).toBe('repeated');
    expect((await read(on, round)).status).toBe('approved');
  });

  it('OWNER-4: no row of another is in the way of a round that opens, or of people who are asked later', async () => {
    const job = await started();
    const { id } = newRound(placeOf(job))(0);
    const forgeRound = (stageRunId: string, roundId: string): Promise<unknown> =>
      forge(
        `INSERT INTO workflow_approval_rounds (owner_id, run_id, stage_run_id, id, budget, node, terms) VALUES ('forger', $1, $2, $3, 0, 'sign', '{}')`,
        job.run.id,
        stageRunId,
        roundId,
      );
    await forgeRound(job.stageRun.id, randomUUID());
    await forgeRound(randomUUID(), id);
    await forgeAsk(job, id, 'u1');
    const round = await openRound(on, job);
    expect([round.id, round.ownerId]).toEqual([id, 'acme']);
    await forgeAsk(job, id, 'u3');
    expect((await ask(on, round, adding('u3'))).answer).toBe('changed');
    expect(await inbox(on, 'u3')).toEqual([id]);
    expect(await inbox(on, 'forger')).toEqual([]);
    expect((await read(on, round)).seats.map(({ approver }) => approver)).toEqual(['u1', 'u2', 'u3']);
  });
});
