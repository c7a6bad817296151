import { ClsModule, ClsServiceManager } from 'nestjs-cls';
import {
  ApprovalsService,
  DefinitionsService,
  WorkflowContext,
  WorkflowService,
  type RunHandle,
} from 'nestjs-workflow-engine';
import { startApp } from '../e2e/app.js';
import { freshDatabase } from '../support/database.js';
import { brokenInvariants } from '../support/invariants.js';
import { forkProcess, type TestProcess } from '../support/processes.js';
import { Order, ORDERS_TABLE, PURCHASE } from './approval-flow.js';

const PROCESS = 'test/chaos/approval.process.ts';

const as = <T>(id: string, context: WorkflowContext, fn: () => Promise<T>): Promise<T> =>
  ClsServiceManager.getClsService().run(() => {
    context.setActor({ id });
    return fn();
  });

describe('approvals whose process is killed', () => {
  it('K40, APPR-2: a visit keeps its one round, what was decided meanwhile counts, and the run goes on to its end', async () => {
    const database = await freshDatabase();
    const pool = database.openPool({ max: 1 });
    await pool.query(ORDERS_TABLE);
    const front = await startApp({
      database,
      imports: [ClsModule.forRoot({ global: true })],
      providers: [Order],
      workflow: { worker: false, wake: { every: false } },
    });
    const [approvals, workflows] = [front.get(ApprovalsService), front.get(WorkflowService)];
    const [victim, survivor] = [forkProcess(PROCESS), forkProcess(PROCESS)];
    const begin = async (process: TestProcess, stopAt?: string): Promise<void> => {
      await process.waitFor('ready');
      process.send('work', { url: database.url, stopAt });
    };
    const decide = async (id: string, run: RunHandle) =>
      as(id, front.get(WorkflowContext), async () => {
        const { asks } = await approvals.inbox();
        const [ask, ...others] = asks.filter(({ runId }) => runId === run.id);
        expect(others).toEqual([]);
        return approvals.decide(ask!.round, 'approved', { stage: ask!.stage });
      });

    await front.get(DefinitionsService).publish(PURCHASE);
    const { run: opened } = await workflows.start('purchase', {});
    const { run: asleep } = await workflows.start('purchase', {});
    // Of one it has opened the round, and nothing more; the other one it has put to sleep.
    await begin(victim, opened.id);
    await Promise.all([victim.waitFor('opened'), victim.waitFor(`asleep ${asleep.id}`)]);
    await victim.kill('SIGKILL');

    // Nobody is there who could go on: each decision stands by itself, and the last one has woken its stage.
    await decide('bob', opened);
    await decide('bob', asleep);
    await decide('cleo', asleep);
    const due = await pool.query('SELECT run_id FROM workflow_jobs WHERE state <> 1');
    expect(due.rows).toEqual([{ run_id: asleep.id }]);

    await begin(survivor);
    await workflows.result(asleep);
    await survivor.waitFor(`asleep ${opened.id}`);
    expect((await decide('cleo', opened)).approval).toMatchObject({ status: 'approved' });
    await workflows.result(opened);

    const rounds = await pool.query(`
      SELECT a.run_id AS run, a.status, count(d.id)::int AS decisions
        FROM workflow_approval_rounds a JOIN workflow_approval_decisions d ON d.round_id = a.id GROUP BY a.id ORDER BY a.run_id`);
    const runs = [opened.id, asleep.id].sort();
    expect(rounds.rows).toEqual(runs.map((run) => ({ run, status: 'approved', decisions: 2 })));
    expect((await pool.query('SELECT run FROM orders ORDER BY run')).rows).toEqual(runs.map((run) => ({ run })));
    expect(await brokenInvariants(pool)).toEqual({});
    await survivor.kill();
    await front.close();
    await pool.end();
  });
});
