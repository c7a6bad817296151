import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { WorkflowService } from 'nestjs-workflow-engine';
import { announce, onMessage } from '../support/process-side.js';
import { CrashFlow, crashModule, JOB_LEASE_MS } from './crash-flow.js';
import { CrashPoint } from './crash-points.js';
import { compileOn, watchSuspensions } from './store-calls.js';

interface Work {
  readonly url: string;
  /** Where this app stands still; without one it takes its run to the end. */
  readonly point?: string;
  /** The run that another process has died over. */
  readonly runId?: string;
  /** How far the engine's clock is ahead: leases of others are over. */
  readonly offsetMs: number;
}

/** An app for each database that it is told of, with a run of its own: the one it is given, or one that it starts. */
onMessage<Work>('work', async ({ url, point, runId, offsetMs }) => {
  const points = new CrashPoint(point, () => void announce(`reached ${url}`));
  let fellAsleep!: () => void;
  const asleep = new Promise<void>((resolve) => (fellAsleep = resolve));
  const module = crashModule(url, points, {
    worker: { concurrency: 2, pollInterval: 200 },
    wake: { every: 200 },
    lease: { heartbeatInterval: 200, staleThreshold: JOB_LEASE_MS },
  });
  const app = await compileOn(module, (store) => {
    store.clockOffsetMs = offsetMs;
    // Around the points: of one that stands still behind its suspension nothing is heard.
    return watchSuspensions(points.around(store), {
      asleep: ({ keep }) => {
        if (keep.includes('approval#1')) fellAsleep();
      },
    });
  });
  app.useLogger(false);
  await app.init();
  const workflows = app.get(WorkflowService);
  const id = runId ?? (await workflows.start(CrashFlow, null)).run.id;
  await announce(`started ${url}`, { runId: id });
  const result = workflows.result(id);
  // An earlier process may have come so far; whatever this one writes from now on, it hears of.
  if (!(await waitedForApproval(app.get(DataSource)))) await Promise.race([asleep, result]);
  await points.pass('while it waits for approval');
  // Of a run that had ended before there is nothing to signal.
  await workflows.signal(id, 'approval', 'yes', { messageId: 'approval' }).catch(() => undefined);
  await announce(`ended ${url}`, { result: await result });
  await app.close();
});

/** The stage sleeps, and only the signal wakes it; or all that is over. */
async function waitedForApproval(dataSource: DataSource): Promise<boolean> {
  const rows: unknown[] = await dataSource.query(`SELECT 1 FROM workflow_stage_runs s
    LEFT JOIN workflow_steps w ON s.id = w.stage_run_id AND w.kind = 'signal'
    WHERE w.open AND s.status = 'SUSPENDED' OR w.status = 'completed'`);
  return rows.length > 0;
}

void announce('ready');
