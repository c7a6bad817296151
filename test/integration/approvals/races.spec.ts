import type { DataSource } from 'typeorm';
import type { Pool } from 'pg';
import type { ApprovalRound } from '../../../lib/engine/approvals/index.js';
import type { ClaimedJob, WorkflowStore } from '../../../lib/engine/ports/index.js';
import { createPostgresStore } from '../../../lib/persistence/index.js';
import {
  askIn,
  deciding,
  expiring,
  newRound,
  placeOf,
  roundWait,
  type RoundGiven,
} from '../../../lib/testing/conformance/approval-builders.js';
import { ending, linear, newRun, newStageRun, newTransition } from '../../../lib/testing/conformance/builders.js';
import { suspending } from '../../../lib/testing/conformance/step-builders.js';
import { freshDatabase } from '../../support/database.js';
import { brokenInvariants } from '../../support/invariants.js';

const ROUNDS = 500;
/** Races that are run at the same time. */
const WAVE = 25;
const WAVES = ROUNDS / WAVE;
/** Limits of waves lie so far apart that no clock comes near them: who looks this much further ahead fires one wave more. */
const WAVE_MS = 3_600_000;
/** What the timer ends at once: few, so that decisions come in between. */
const PAGE = 2;
const WON = 'changed, and its stage goes on';

interface Waiting {
  readonly job: ClaimedJob;
  readonly round: ApprovalRound;
}

/** Rows that should not be there once all runs have gone on. */
const LEFT_OPEN = `
  SELECT a.id, a.status, s.status AS visit, r.status AS run FROM workflow_approval_rounds a
    JOIN workflow_stage_runs s ON s.id = a.stage_run_id JOIN workflow_runs r ON r.id = a.run_id
   WHERE a.status = 'open' OR a.ended_at IS NULL OR r.status <> 'COMPLETED' OR s.status <> 'COMPLETED'
      OR EXISTS (SELECT 1 FROM workflow_approval_asks k WHERE k.round_id = a.id AND k.open)
      OR EXISTS (SELECT 1 FROM workflow_jobs j WHERE j.run_id = a.run_id)`;

/** How often each was there. */
function tally(all: Iterable<unknown>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const one of all) {
    const name = Array.isArray(one) ? one.join(', ') : String(one);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Two processes on one database, each with connections of its own. */
describe('rounds that two processes are at in the same moment', () => {
  let dataSource: DataSource;
  let monitor: Pool;
  let stores: [WorkflowStore, WorkflowStore];

  beforeAll(async () => {
    const database = await freshDatabase();
    dataSource = await database.openDataSource();
    monitor = database.openPool({ max: 1 });
    stores = [await createPostgresStore(dataSource), await createPostgresStore(dataSource)];
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await monitor.end();
    await dataSource.destroy();
  });

  const claim = async (store: WorkflowStore, limit = ROUNDS): Promise<readonly ClaimedJob[]> =>
    (await store.claim({ workerId: 'worker', limit, queues: null, unserved: [] })).claimed;

  /** So many stages that wait for the end of their rounds, as approval nodes do. */
  async function waiting(given: (nr: number) => RoundGiven): Promise<Waiting[]> {
    const [store] = stores;
    const runs = Array.from({ length: ROUNDS }, () =>
      newRun({ transition: newTransition({ stageRuns: [newStageRun()] }) }),
    );
    await store.createRuns(runs);
    const rounds = await Promise.all(
      (await claim(store)).map(async (job, nr) => {
        const place = placeOf(job);
        const round = await store.openRound(place, newRound(place, given(nr)));
        if (round === 'ended') throw new Error('A visit has ended.');
        return { job, round, expiresInMs: given(nr).expiresInMs ?? null };
      }),
    );
    expect(rounds).toHaveLength(ROUNDS);
    const suspended = await store.suspend(
      rounds.map(({ job, round, expiresInMs }) => suspending(job, [roundWait(round, { expiresInMs })])),
      { lockTimeoutMs: 20_000 },
    );
    expect(suspended.filter((one) => one.verdict === 'recorded')).toHaveLength(ROUNDS);
    return rounds;
  }

  /** The races, a wave at a time. Who begins takes turns. */
  async function race<T>(all: readonly Waiting[], run: (one: Waiting, turn: number) => Promise<T>): Promise<T[]> {
    const answers: T[] = [];
    for (let from = 0; from < all.length; from += WAVE) {
      const wave = all.slice(from, from + WAVE);
      answers.push(...(await Promise.all(wave.map((one, nr) => run(one, from / WAVE + nr)))));
    }
    return answers;
  }

  /** What became of them: each stage goes on, once, by what its round says; its run ends, and nothing stays open. */
  async function goOn(all: readonly Waiting[]): Promise<Map<string, ApprovalRound['status']>> {
    const claimed = (await Promise.all(stores.map((store) => claim(store)))).flat();
    expect(claimed.map(({ stageRun }) => stageRun.id).sort()).toEqual(all.map(({ job }) => job.stageRun.id).sort());
    const ended = await Promise.all(
      claimed.map(async (job) => {
        const round = (await stores[0].findRound(placeOf(job)))!;
        if (round.status === 'expired') await askIn(stores[0], round, expiring);
        return [round.id, round.status] as const;
      }),
    );
    const recorded = await stores[0].record(claimed.map((job) => linear(job, { transition: ending() })));
    expect(recorded.filter(({ verdict }) => verdict === 'recorded')).toHaveLength(ROUNDS);
    expect((await monitor.query(LEFT_OPEN)).rows).toEqual([]);
    expect(await brokenInvariants(monitor)).toEqual({});
    return new Map(ended);
  }

  it.each([
    ['all', { 'changed, changed': ROUNDS }],
    ['any', { 'ROUND_CLOSED, changed': ROUNDS }],
  ] as const)('APPR-2, FAULT I1: two last approvers at once, 500 times, under %s', async (rule, expected) => {
    const all = await waiting(() => ({ rule }));
    const answers = await race(all, ({ round }, turn) => {
      const people = turn % 2 === 0 ? ['u1', 'u2'] : ['u2', 'u1'];
      return Promise.all(people.map((by, side) => askIn(stores[side]!, round, deciding(by))));
    });
    // Both count, where both are needed; one of the two ended the round and woke its stage.
    expect(tally(answers.map((pair) => pair.map(({ answer }) => answer).sort()))).toEqual(expected);
    expect(tally(answers.map((pair) => pair.filter(({ resumed }) => resumed).length))).toEqual({ 1: ROUNDS });
    expect(tally((await goOn(all)).values())).toEqual({ approved: ROUNDS });
  });

  it('APPR-2, FAULT D9: a decision against the timeout at the same instant, 500 times', async () => {
    const [decider, timer] = stores;
    const all = await waiting((nr) => ({ approvers: ['u1'], expiresInMs: (Math.floor(nr / WAVE) + 1) * WAVE_MS }));
    const answers = new Map<string, string>();
    const decide = async ({ round }: Waiting): Promise<void> => {
      const { answer, resumed } = await askIn(decider, round, deciding('u1'));
      answers.set(round.id, `${answer}, ${resumed ? 'and its stage goes on' : 'and nothing else'}`);
    };
    let timeouts = 0;
    /** As at work: what somebody holds is passed over, and looked at again. */
    const fire = async (aheadMs: number): Promise<void> => {
      for (let more = true; more;) {
        const fired = await timer.fireDue(PAGE, aheadMs);
        timeouts += fired.timeouts;
        more = fired.more || fired.ended > 0;
      }
    };
    for (let wave = 0; wave < WAVES; wave += 1) {
      const decisions = all.slice(wave * WAVE, (wave + 1) * WAVE).map((one) => () => decide(one));
      const fired = (): Promise<void> => fire((wave + 1) * WAVE_MS);
      const sides = wave % 2 === 0 ? [fired, ...decisions] : [...decisions, fired];
      await Promise.all(sides.map((side) => side()));
    }
    const { [WON]: won = 0, ...others } = tally(answers.values());
    expect({ won, ...others }).toEqual({ won: ROUNDS - timeouts, 'ROUND_CLOSED, and nothing else': timeouts });
    const ended = await goOn(all);
    expect(tally(ended.values())).toEqual({ approved: won, expired: timeouts });
    const approved = [...ended].filter(([, status]) => status === 'approved');
    expect(tally(approved.map(([id]) => answers.get(id)))).toEqual({ [WON]: won });
    // It was a race: neither of the two is first by how they are made.
    expect([won > 0, timeouts > 0]).toEqual([true, true]);
  });
});
