import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { WorkflowService } from 'nestjs-workflow-engine';
import { WORKFLOW_OVERRIDES, type WorkflowOverrides } from '../../lib/composition/overrides.js';
import { openPostgresStorage } from '../../lib/composition/postgres-storage.js';
import { announce, onMessage } from '../support/process-side.js';
import { CrashFlow, crashModule } from './crash-flow.js';
import { CrashPoint } from './crash-points.js';

interface Work {
  readonly url: string;
  /** Where this app stands still; without one it takes its run to the end. */
  readonly point?: string;
  /** The run that another process has died over. */
  readonly runId?: string;
  /** How far the engine's clock is ahead: leases of five minutes are over. */
  readonly offsetMs: number;
}

/** An app for each database that it is told of, with a run of its own: the one it is given, or one that it starts. */
onMessage<Work>('work', async ({ url, point, runId, offsetMs }) => {
  const points = new CrashPoint(point, () => void announce(`reached ${url}`));
  const openStorage: WorkflowOverrides['openStorage'] = async (request) => {
    const storage = await openPostgresStorage(request);
    storage.store.clockOffsetMs = offsetMs;
    return { ...storage, store: points.around(storage.store) };
  };
  const module = crashModule(url, points, {
    worker: { concurrency: 2, pollInterval: 200 },
    wake: { every: 200 },
    lease: { heartbeatInterval: 200, staleThreshold: 1_000 },
  });
  const builder = Test.createTestingModule({ imports: [module] });
  builder.overrideProvider(WORKFLOW_OVERRIDES).useValue({ openStorage });
  const app = await builder.compile();
  app.useLogger(false);
  await app.init();
  const workflows = app.get(WorkflowService);
  const id = runId ?? (await workflows.start(CrashFlow, null)).run.id;
  await announce(`started ${url}`, { runId: id });
  const result = workflows.result(id);
  while (!(await waitsForApproval(app.get(DataSource)))) await new Promise((resolve) => setTimeout(resolve, 50));
  await points.pass('while it waits for approval');
  // Of a run that had ended before there is nothing to signal.
  await workflows.signal(id, 'approval', 'yes', { messageId: 'approval' }).catch(() => undefined);
  await announce(`ended ${url}`, { result: await result });
  await app.close();
});

/** The stage sleeps, and only the signal wakes it; or all that is over. */
async function waitsForApproval(dataSource: DataSource): Promise<boolean> {
  const rows: unknown[] = await dataSource.query(`SELECT 1 FROM workflow_stage_runs s
    LEFT JOIN workflow_steps w ON s.id = w.stage_run_id AND w.kind = 'signal'
    WHERE w.open AND s.status = 'SUSPENDED' OR w.status = 'completed'`);
  return rows.length > 0;
}

void announce('ready');
