import type { Fence, Lease } from '../../engine/ports/work-store.js';
import type { RunRecord, StageRunRecord } from './records.js';
import type { MemorySession } from './session.js';

export interface FencedAttempt {
  readonly run: RunRecord;
  readonly stageRun: StageRunRecord;
}

/** The attempt a lease stands for, while its worker may still write: same token, RUNNING stage run, RUNNING run (LEASE-5). */
export function findFenced({ db }: MemorySession, { runId, stageRunId, token }: Lease): FencedAttempt | undefined {
  const run = db.runs.get(runId);
  const stageRun = db.stageRuns.get(stageRunId);
  if (run?.status !== 'RUNNING' || stageRun === undefined || stageRun.runId !== runId) return undefined;
  return stageRun.status === 'RUNNING' && stageRun.claimToken === token ? { run, stageRun } : undefined;
}

export function readFences({ db }: MemorySession, stageRunIds: readonly string[]): Fence[] {
  return stageRunIds.flatMap((stageRunId) => {
    const stageRun = db.stageRuns.get(stageRunId);
    const run = stageRun && db.runs.get(stageRun.runId);
    if (stageRun === undefined || run === undefined) return [];
    return { stageRunId, status: stageRun.status, token: stageRun.claimToken, runStatus: run.status };
  });
}
