import type { Fence } from '../../engine/ports/index.js';
import { isTerminalRun } from '../../engine/state/statuses.js';
import type { StageOutcome } from '../../engine/state/rows.js';
import type { StageRunStatus } from '../../engine/state/statuses.js';
import { onlySuccessor } from './outcome-records.js';
import type { RecordItem, RecordResult } from './record-item.js';

const STATUS_AFTER: Readonly<Record<StageOutcome['kind'], StageRunStatus>> = {
  completed: 'COMPLETED',
  skipped: 'SKIPPED',
  failed: 'FAILED',
  retry: 'PENDING',
  released: 'PENDING',
};

/** Whose rows have to be read to judge an outcome whose fence did not hold: its own, and those that were to follow. */
export function fencesToRead({ entry }: RecordItem): string[] {
  const next = entry.lane === 'linear' && entry.record.transition ? onlySuccessor(entry.record.transition) : undefined;
  const own = entry.record.lease.stageRunId;
  return next ? [own, next.id] : [own];
}

/**
 * Why the fence of an outcome did not hold. My token on a stage run that stands where the outcome wanted it: this very
 * outcome was recorded and the answer got lost, so it goes on from there, hand-off included. Otherwise the run was ended,
 * or the lease is lost (LEASE-5). `undecided`: the rows say it should have held, so it is tried again.
 */
export function judgeFence({ entry }: RecordItem, fences: ReadonlyMap<string, Fence>): RecordResult | 'undecided' {
  const { lease } = entry.record;
  const fence = fences.get(lease.stageRunId);
  if (!fence) return { kind: 'lost' };
  const mine = fence.token === lease.token;
  if (entry.lane === 'suspend') return judgeSuspension(fence, mine);
  const target = STATUS_AFTER[entry.record.outcome.kind];
  // Back in the queue, the token is gone: nothing follows from it here, so it may have been this write or another.
  if (target === 'PENDING' && fence.status === 'PENDING') return { kind: 'recorded', handedOff: false, finished: null };
  if (mine && target !== 'PENDING' && fence.status === target) {
    const { runId } = lease;
    const finished = isTerminalRun(fence.runStatus) ? { runId, status: fence.runStatus, awaited: true } : null;
    return { kind: 'recorded', handedOff: handedOff(entry, fences), finished };
  }
  if (fence.runStatus === 'CANCELLED' || fence.runStatus === 'FAILED') return { kind: 'cancelled' };
  return mine && fence.status === 'RUNNING' && fence.runStatus === 'RUNNING' ? 'undecided' : { kind: 'lost' };
}

/** Waiting, or due again since what it waits for was there: nothing follows from it here but a hint. */
function judgeSuspension({ status, runStatus }: Fence, mine: boolean): RecordResult | 'undecided' {
  if (runStatus === 'CANCELLED' || runStatus === 'FAILED') return { kind: 'cancelled' };
  if (status === 'SUSPENDED' || status === 'PENDING') {
    const wait = { suspended: status === 'SUSPENDED', dueInMs: 0 };
    return { kind: 'recorded', handedOff: false, finished: null, wait };
  }
  return mine && status === 'RUNNING' && runStatus === 'RUNNING' ? 'undecided' : { kind: 'lost' };
}

function handedOff(entry: RecordItem['entry'], fences: ReadonlyMap<string, Fence>): boolean {
  if (entry.lane !== 'linear' || !entry.record.handOff || !entry.record.transition) return false;
  const next = onlySuccessor(entry.record.transition);
  const fence = next && fences.get(next.id);
  return fence?.status === 'RUNNING' && fence.token === entry.record.handOff.token;
}
