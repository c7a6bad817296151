import type {
  ClaimedJob,
  ClaimRequest,
  ClaimResult,
  DiscardedJob,
  ExpiredLease,
  Fence,
  Lease,
  LeaseLimits,
  LeaseState,
  UnsentJob,
  WorkStore,
} from '../../engine/ports/index.js';
import { claimedJob, type ClaimedRow } from '../dialects/postgres/statements/claimed-row.js';
import { claimValues } from '../dialects/postgres/statements/claim.js';
import {
  expiredLease,
  leaseState,
  leaseValues,
  type ExpiredRow,
  type ExtendedRow,
} from '../dialects/postgres/statements/lease-statements.js';
import { unsentJob, type UnsentRow } from '../dialects/postgres/statements/send-statements.js';
import { CANCEL, EXECUTE } from '../dialects/postgres/sql.js';
import type { StoreContext } from './store-context.js';

const ANY_ATTEMPT = { kind: 'execute', attempt: null } as const;
/** Claims, leases and cancel jobs. */
export class PostgresWork implements Omit<WorkStore, 'record' | 'settle' | 'recordWithin' | 'reap'> {
  constructor(private readonly context: StoreContext) {}

  async claim({ workerId, limit, queues, unserved }: ClaimRequest): Promise<ClaimResult> {
    const { pool, statements, clock } = this.context;
    const rows = await pool.query<ClaimedRow>(
      statements.claim,
      claimValues(clock.offsetMs, workerId, limit, unserved, queues, pool.sendMs),
    );
    return {
      claimed: rows.filter((row) => row.taken).map(claimedJob),
      discarded: rows.filter((row) => !row.taken).map(discardedJob),
    };
  }

  async takeUnsent(limit: number): Promise<UnsentJob[]> {
    const { pool, statements, clock } = this.context;
    return (await pool.query<UnsentRow>(statements.takeUnsent, [clock.offsetMs, limit])).map(unsentJob);
  }

  async claimStageRun(
    stageRunId: string,
    workerId: string,
    { kind, attempt }: NonNullable<Parameters<WorkStore['claimStageRun']>[2]> = ANY_ATTEMPT,
  ): Promise<ClaimedJob | 'race' | 'orphan' | 'duplicate'> {
    const { pool, statements, clock } = this.context;
    const [row] = await pool.query<ClaimedRow>(statements.claimStageRun, [
      ...claimValues(clock.offsetMs, workerId, stageRunId, [], null, pool.sendMs),
      kind === 'cancel' ? CANCEL : EXECUTE,
      attempt,
    ]);
    if (row?.taken) return claimedJob(row);
    if (row) return discardedJob(row).ghost;
    // Its run has ended: that is what a cancel hook is for.
    if (kind === 'cancel') return 'duplicate';
    const [fence] = await this.readFences([stageRunId]);
    if (!fence) return 'race';
    return fence.runStatus === 'RUNNING' || fence.runStatus === 'PENDING' ? 'duplicate' : 'orphan';
  }

  async readFences(stageRunIds: readonly string[]): Promise<Fence[]> {
    const { pool, statements } = this.context;
    const rows = await pool.query<{
      id: string;
      status: Fence['status'];
      token: string | null;
      run_status: Fence['runStatus'];
    }>(statements.readFences, [stageRunIds]);
    return rows.map((row) => ({ stageRunId: row.id, status: row.status, token: row.token, runStatus: row.run_status }));
  }

  async extendLeases(leases: readonly Lease[]): Promise<Map<string, LeaseState>> {
    if (leases.length === 0) return new Map();
    const { pool, statements, clock } = this.context;
    const rows = await pool.query<ExtendedRow>(statements.extendLeases, leaseValues(clock.offsetMs, leases));
    return new Map(rows.map((row) => [row.id, leaseState(row)]));
  }

  async finishCancelJob({ jobId, token }: Lease, retryInMs: number | null): Promise<boolean> {
    const { pool, statements, clock } = this.context;
    const rows =
      retryInMs === null
        ? await pool.query(statements.finishCancelJob, [jobId, token])
        : await pool.query(statements.delayCancelJob, [clock.offsetMs, jobId, token, retryInMs]);
    return rows.length > 0;
  }

  async addCancelJob({ stageRunId }: Lease, jobId: string, queue: string): Promise<void> {
    const { pool, statements, clock } = this.context;
    await pool.query(statements.addCancelJob, [clock.offsetMs, jobId, stageRunId, queue]);
  }

  async findExpired({ staleMs, capMs }: LeaseLimits, limit: number): Promise<ExpiredLease[]> {
    const { pool, statements, clock } = this.context;
    return (await pool.query<ExpiredRow>(statements.findExpired, [clock.offsetMs, staleMs, capMs, limit])).map(
      expiredLease,
    );
  }
}

function discardedJob(row: ClaimedRow): DiscardedJob {
  const ended = row.run_status !== 'RUNNING' && row.run_status !== 'PENDING';
  // Nobody's: its own run, if it has one, does not know of it.
  if (row.forged) return { jobId: row.job_id, runId: row.run_id, stageRunId: row.stage_run_id, ghost: 'orphan' };
  return { jobId: row.job_id, runId: row.run_id, stageRunId: row.stage_run_id, ghost: ended ? 'orphan' : 'duplicate' };
}
