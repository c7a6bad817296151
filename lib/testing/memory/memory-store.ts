import type { JoinedTransaction } from '../../engine/ports/joined-transaction.js';
import type * as port from '../../engine/ports/index.js';
import type { RunStatus } from '../../engine/state/statuses.js';
import { WorkflowError } from '../../errors/index.js';
import * as approvals from './approvals.js';
import { listAudit, writeAudit } from './audit.js';
import { addCancelJob, finishCancelJob } from './cancel-jobs.js';
import { claim, claimStageRun, takeUnsent } from './claims.js';
import { registerDefinitions, type DriftedDefinition } from './definitions.js';
import { findExpired, reap } from './expired-leases.js';
import { readFences } from './fences.js';
import * as graphs from './graphs.js';
import { settle } from './joined-records.js';
import { extendLeases } from './leases.js';
import { recordLinear } from './linear-records.js';
import * as outbox from './outbox.js';
import { changeRun } from './run-changes.js';
import * as reads from './run-reads.js';
import { countStarts, createRuns, heldKeys } from './starts.js';
import { StepCalls } from './step-calls.js';
import { refuseJoining } from './store-calls.js';
import { MemoryDataError } from './table/data-error.js';
import * as triggers from './triggers.js';
import { instant } from './views.js';
import * as wakes from './wakes.js';

export type { MemoryStoreOptions } from './store-calls.js';

/**
 * The engine's store in the memory of one process, with the guarantees of the PostgreSQL one: the same conformance suite
 * runs on both.
 *
 * A call is atomic: nothing awaits between its first and last write, and one that throws leaves nothing behind. So no
 * verdict is ever `busy`. Everything is gone with the process: for tests and trials, never for production. It can't take
 * part in a transaction of the host, which is refused.
 *
 * @publicApi
 */
export class MemoryStore extends StepCalls implements port.WorkflowStore {
  async createRuns(runs: readonly port.NewRun[], transaction?: JoinedTransaction): Promise<port.CreatedRun[]> {
    refuseJoining('createRuns', transaction);
    return this.call((session) => createRuns(session, runs));
  }

  async heldKeys(digests: readonly Buffer[], transaction?: JoinedTransaction): Promise<boolean[]> {
    refuseJoining('heldKeys', transaction);
    return this.call((session) => heldKeys(session, digests));
  }

  async countStarts(...asked: Parameters<port.StartStore['countStarts']>): Promise<port.CountedStarts> {
    return this.call((session) => countStarts(session, ...asked));
  }

  async claim(request: port.ClaimRequest): Promise<port.ClaimResult> {
    return this.call((session) => claim(session, request));
  }

  async takeUnsent(limit: number): Promise<port.UnsentJob[]> {
    return this.call((session) => takeUnsent(session, limit));
  }

  async claimStageRun(
    ...claimed: Parameters<port.WorkflowStore['claimStageRun']>
  ): Promise<port.ClaimedJob | 'race' | 'orphan' | 'duplicate'> {
    return this.call((session) => claimStageRun(session, ...claimed));
  }

  async record(records: readonly port.LinearRecord[]): Promise<port.RecordVerdict[]> {
    return this.call((session) => records.map((record) => recordLinear(session, record)));
  }

  async settle(records: readonly port.JoinedRecord[], decide: port.DecideSettled): Promise<port.RecordVerdict[]> {
    return this.call((session) => settle(session, records, decide));
  }

  async recordWithin(...[record, , transaction]: Parameters<port.WorkflowStore['recordWithin']>): Promise<never> {
    refuseJoining('recordWithin', transaction);
    throw new Error(`Stage run ${record.lease.stageRunId} was to be recorded within no transaction.`);
  }

  async readFences(stageRunIds: readonly string[]): Promise<port.Fence[]> {
    return this.call((session) => readFences(session, stageRunIds));
  }

  async extendLeases(leases: readonly port.Lease[]): Promise<Map<string, port.LeaseState>> {
    return this.call((session) => extendLeases(session, leases));
  }

  async finishCancelJob(lease: port.Lease, retryInMs: number | null): Promise<boolean> {
    return this.call((session) => finishCancelJob(session, lease, retryInMs));
  }

  async addCancelJob(lease: port.Lease, jobId: string, queue: string): Promise<void> {
    return this.call((session) => addCancelJob(session, lease, jobId, queue));
  }

  async findExpired(limits: port.LeaseLimits, limit: number): Promise<port.ExpiredLease[]> {
    return this.call((session) => findExpired(session, limits, limit));
  }

  async reap(
    records: readonly port.LostRecord[],
    limits: port.LeaseLimits,
    decide: port.DecideSettled,
  ): Promise<number> {
    return this.call((session) => reap(session, records, limits, decide));
  }

  async changeRun<R>(
    runId: string,
    scope: port.OwnerScope,
    decide: (run: port.LockedRun) => port.ChangeDecision<R>,
    transaction?: JoinedTransaction,
    options?: port.ChangeOptions<R>,
  ): Promise<port.ChangeResult<R> | undefined> {
    refuseJoining('changeRun', transaction);
    return this.call((session) => changeRun(session, runId, scope, decide, options));
  }

  async findRun(
    runId: string,
    scope: port.OwnerScope,
    transaction?: JoinedTransaction,
  ): Promise<port.RunRow | undefined> {
    refuseJoining('findRun', transaction);
    return this.call((session) => reads.findRunRow(session, runId, scope));
  }

  async findRound(place: port.RoundPlace): ReturnType<port.ApprovalStore['findRound']> {
    return this.call((session) => approvals.findRound(session, place));
  }

  async findRoundBeside(place: port.RoundPlace): ReturnType<port.ApprovalStore['findRoundBeside']> {
    return this.call((session) => approvals.findRoundBeside(session, place));
  }

  async openRound(...asked: Parameters<port.ApprovalStore['openRound']>): ReturnType<port.ApprovalStore['openRound']> {
    return this.call((session) => approvals.openRound(session, ...asked));
  }

  async changeRound<R>(
    round: { readonly id: string; readonly runId: string },
    scope: port.OwnerScope,
    decide: (round: port.LockedRound) => port.RoundDecision<R>,
    transaction?: JoinedTransaction,
    options?: port.RoundChangeOptions<R>,
  ): Promise<port.ChangedRound<R> | undefined> {
    refuseJoining('changeRound', transaction);
    return this.call((session) => approvals.changeRound(session, round, scope, decide, options));
  }

  async getRound(
    ...[roundId, scope, transaction]: Parameters<port.ApprovalStore['getRound']>
  ): ReturnType<port.ApprovalStore['getRound']> {
    refuseJoining('getRound', transaction);
    return this.call((session) => approvals.getRound(session, roundId, scope));
  }

  async listAsks(filter: port.AskFilter, scope: port.OwnerScope): Promise<port.Ask[]> {
    return this.call((session) => approvals.listAsks(session, filter, scope));
  }

  async writeAudit(rows: readonly port.NewAuditRow[]): Promise<void> {
    return this.call((session) => rows.forEach((row) => writeAudit(session, row)));
  }

  async listAudit(filter: port.AuditFilter, scope: port.OwnerScope): Promise<port.AuditRow[]> {
    return this.call((session) => listAudit(session, filter, scope));
  }

  async getRun(runId: string, scope: port.OwnerScope): Promise<port.RunDetails | undefined> {
    return this.call((session) => reads.getRun(session, runId, scope));
  }

  async listRuns(filter: port.RunFilter, scope: port.OwnerScope): Promise<port.RunRow[]> {
    return this.call((session) => reads.listRuns(session, filter, scope));
  }

  async countRuns(scope: port.OwnerScope, definitionId?: string): Promise<Partial<Record<RunStatus, number>>> {
    return this.call((session) => reads.countRuns(session, scope, definitionId));
  }

  async history(runId: string, scope: port.OwnerScope): Promise<port.RunHistory | undefined> {
    return this.call((session) => reads.history(session, runId, scope));
  }

  async awaitRuns(runIds: readonly string[], scope: port.OwnerScope): Promise<port.RunDetails[]> {
    return this.call((session) => reads.awaitRuns(session, runIds, scope));
  }

  async readFinished(runIds: readonly string[], scope: port.OwnerScope): Promise<port.RunDetails[]> {
    return this.call((session) => reads.readFinished(session, runIds, scope));
  }

  async putTriggers(inForce: port.TriggersInForce): Promise<void> {
    return this.call((session) => triggers.putTriggers(session, inForce));
  }

  async listTriggers(...asked: Parameters<port.TriggerStore['listTriggers']>): Promise<port.TriggerRow[]> {
    return this.call((session) => triggers.listTriggers(session, ...asked));
  }

  async claimSchedules(limit: number, aheadMs: number, leaseMs: number): Promise<port.ClaimedSchedule[]> {
    return this.call((session) => triggers.claimSchedules(session, limit, aheadMs, leaseMs));
  }

  async moveSchedules(moves: readonly port.ScheduleMove[]): Promise<number> {
    return this.call((session) => triggers.moveSchedules(session, moves));
  }

  async findEventTriggers(
    ...asked: Parameters<port.TriggerStore['findEventTriggers']>
  ): ReturnType<port.TriggerStore['findEventTriggers']> {
    return this.call((session) => triggers.findEventTriggers(session, ...asked));
  }

  async findHook(id: string): Promise<port.FoundTrigger | undefined> {
    return this.call((session) => triggers.findHook(session, id));
  }

  async noteTrigger(id: string, note: port.TriggerNote): Promise<void> {
    return this.call((session) => triggers.noteTrigger(session, id, note));
  }

  async readAncestry(runId: string, ownerId: string | null): Promise<port.RunAncestor[]> {
    return this.call((session) => triggers.readAncestry(session, runId, ownerId));
  }

  async nextScheduleIn(aheadMs: number): Promise<number | null> {
    return this.call((session) => triggers.nextScheduleIn(session, aheadMs));
  }

  async probe(thresholds: wakes.ProbeThresholds): Promise<port.WakeProbe> {
    return this.call((session) => wakes.probe(session, thresholds));
  }

  async promoteDelayed(limit: number, aheadMs: number): Promise<port.PromotedJobs> {
    return this.call((session) => wakes.promoteDelayed(session, limit, aheadMs));
  }

  async requeueSent(requeueAfterMs: number, limit: number): Promise<number> {
    return this.call((session) => wakes.requeueSent(session, requeueAfterMs, limit));
  }

  async findStuck(stuckAfterMs: number, after: string | null, limit: number): Promise<port.StuckPage> {
    return this.call((session) => wakes.findStuck(session, stuckAfterMs, after, limit));
  }

  async findOverdue(limit: number, aheadMs: number): Promise<{ readonly runId: string }[]> {
    return this.call((session) => wakes.findOverdue(session, limit, aheadMs));
  }

  async pruneKeys(limit: number): Promise<number> {
    return this.call((session) => wakes.pruneKeys(session, limit));
  }

  async now(): Promise<string> {
    return this.call((session) => instant(session.now));
  }

  async leaseSlots(relayId: string, ttlMs: number, most: number, unheardForMs?: number): Promise<number[]> {
    return this.call((session) => outbox.leaseSlots(session, relayId, ttlMs, most, unheardForMs));
  }

  async releaseSlots(relayId: string): Promise<void> {
    return this.call((session) => outbox.releaseSlots(session, relayId));
  }

  async readOutbox(relayId: string, slots: readonly number[], limit: number): Promise<port.OutboxRow[]> {
    return this.call((session) => outbox.readOutbox(session, relayId, slots, limit));
  }

  async ackOutbox(ids: readonly string[]): Promise<void> {
    return this.call((session) => outbox.ackOutbox(session, ids));
  }

  async failOutbox(id: string, delivered: number, message: string, retryInMs: number | null): Promise<void> {
    return this.call((session) => outbox.failOutbox(session, id, delivered, message, retryInMs));
  }

  async discardOutbox(...unheard: Parameters<port.WorkflowStore['discardOutbox']>): Promise<number> {
    return this.call((session) => outbox.discardOutbox(session, ...unheard));
  }

  async listDeadLetters(limit: number): Promise<(port.OutboxRow & { error: string | null })[]> {
    return this.call((session) => outbox.listDeadLetters(session, limit));
  }

  async replayDeadLetters(
    ids: readonly string[],
    audit?: (letter: port.ReplayedLetter) => port.AuditEntry,
  ): Promise<number> {
    return this.call((session) => outbox.replayDeadLetters(session, ids, audit));
  }

  async registerDefinitions(definitions: readonly port.DefinitionRow[]): Promise<DriftedDefinition[]> {
    return this.call((session) => registerDefinitions(session, definitions));
  }

  async changeGraph<R>(
    name: port.GraphName,
    decide: (head: port.GraphHead) => port.GraphDecision<R>,
    options: port.GraphChangeOptions<R>,
  ): Promise<port.GraphChanged<R>> {
    return this.call((session) => graphs.changeGraph(session, name, decide, options));
  }

  async findGraph(...given: Parameters<port.GraphStore['findGraph']>): Promise<port.GraphDetails | undefined> {
    return this.call((session) => graphs.findGraph(session, ...given));
  }

  async startableGraph(
    name: port.GraphName,
    version: number | null,
  ): Promise<(port.GraphKey & port.GraphName) | undefined> {
    return this.call((session) => graphs.startableGraph(session, name, version));
  }

  async startableIds(definitionIds: readonly string[], ownerId: string | null): Promise<string[]> {
    return this.call((session) => graphs.startableIds(session, definitionIds, ownerId));
  }

  async graphExists(key: port.GraphKey): Promise<boolean> {
    return this.call((session) => graphs.graphExists(session, key));
  }

  async graphByKey(key: port.GraphKey, ownerId: string | null): Promise<port.GraphDetails | undefined> {
    return this.call((session) => graphs.graphByKey(session, key, ownerId));
  }

  async listGraphs(filter: port.GraphFilter, scope: port.OwnerScope): Promise<port.GraphRow[]> {
    return this.call((session) => graphs.listGraphs(session, filter, scope));
  }

  /** Memory is never out of reach; a test that plays an outage throws a `StoreUnavailableError`. */
  isTransient(error: unknown): boolean {
    return WorkflowError.is(error) && error.code === 'STORE_UNAVAILABLE';
  }

  isDataError(error: unknown): boolean {
    return error instanceof MemoryDataError;
  }

  async close(): Promise<void> {}
}
