import type * as port from '../../engine/ports/index.js';
import type { JsonText } from '../../engine/state/rows.js';
import { listAnnotations } from './annotations.js';
import { deliverChildren, findOrphans } from './children.js';
import * as eventWaits from './event-waits.js';
import * as events from './events.js';
import { fireDue } from './fired-waits.js';
import { extendSteps, readLedger } from './ledger.js';
import { sendSignal } from './signals.js';
import { readEffects, writeStep } from './steps.js';
import { refuseJoining, StoreCalls } from './store-calls.js';
import { touch } from './subjects.js';
import { answerWaits, suspend } from './suspensions.js';

/** The calls about steps, waits, events and notes. */
export class StepCalls
  extends StoreCalls
  implements port.StepStore, port.SubjectStore, port.EventStore, port.AnnotationStore
{
  async readLedger(stageRunIds: readonly string[]): Promise<port.LedgerRow[]> {
    return this.call((session) => readLedger(session, stageRunIds));
  }

  async writeSteps(writes: readonly port.StepWrite[]): Promise<port.StepVerdict[]> {
    return this.call((session) => writes.map((write) => writeStep(session, write)));
  }

  async writeWithin(write: port.StepWrite, transaction: port.JoinedTransaction): Promise<port.StepVerdict> {
    refuseJoining('writeWithin', transaction);
    return this.call((session) => writeStep(session, write));
  }

  async extendSteps(leases: readonly port.StepLease[]): Promise<void> {
    return this.call((session) => extendSteps(session, leases));
  }

  async readEffects(digests: readonly Buffer[], ownerId: string | null): Promise<Map<string, JsonText>> {
    return this.call((session) => readEffects(session, digests, ownerId));
  }

  async suspend(records: readonly port.SuspendRecord[]): Promise<port.SuspendVerdict[]> {
    return this.call((session) => records.map((record) => suspend(session, record)));
  }

  async answerWaits({ stageRunId }: Pick<port.Lease, 'runId' | 'stageRunId'>): Promise<number> {
    return this.call((session) => answerWaits(session, stageRunId));
  }

  async touch(...[subject, ownerId, transaction]: Parameters<port.SubjectStore['touch']>): Promise<port.Touched> {
    refuseJoining('touch', transaction);
    return this.call((session) => touch(session, subject, ownerId));
  }

  async fireDue(limit: number, aheadMs: number): Promise<port.FiredWaits> {
    return this.call((session) => fireDue(session, limit, aheadMs));
  }

  async deliverChildren(limit: number): Promise<port.DeliveredChildren> {
    return this.call((session) => deliverChildren(session, limit));
  }

  async findOrphans(limit: number): ReturnType<port.StepStore['findOrphans']> {
    return this.call((session) => findOrphans(session, limit));
  }

  async storeEvent(event: port.NewEvent, transaction?: port.JoinedTransaction): Promise<boolean> {
    refuseJoining('storeEvent', transaction);
    return this.call((session) => events.storeEvent(session, event));
  }

  async sendSignal(
    event: port.NewEvent,
    runId: string,
    scope: port.OwnerScope,
    transaction?: port.JoinedTransaction,
    audit?: (verdict: port.SignalVerdict) => port.AuditEntry,
  ): ReturnType<port.EventStore['sendSignal']> {
    refuseJoining('sendSignal', transaction);
    return this.call((session) => sendSignal(session, event, runId, scope, audit));
  }

  async findWaits(...asked: Parameters<port.EventStore['findWaits']>): ReturnType<port.EventStore['findWaits']> {
    return this.call((session) => eventWaits.findWaits(session, ...asked));
  }

  async findEvents(...asked: Parameters<port.EventStore['findEvents']>): ReturnType<port.EventStore['findEvents']> {
    return this.call((session) => events.findEvents(session, ...asked));
  }

  async fireEvents(matches: readonly port.EventMatch[]): ReturnType<port.EventStore['fireEvents']> {
    return this.call((session) => events.fireEvents(session, matches));
  }

  async unmatchedEvents(
    ...asked: Parameters<port.EventStore['unmatchedEvents']>
  ): ReturnType<port.EventStore['unmatchedEvents']> {
    return this.call((session) => events.unmatchedEvents(session, ...asked));
  }

  async markMatched(eventIds: readonly string[]): Promise<void> {
    return this.call((session) => events.markMatched(session, eventIds));
  }

  async uncheckedWaits(...asked: Parameters<port.EventStore['uncheckedWaits']>): Promise<port.EventWait[]> {
    return this.call((session) => eventWaits.uncheckedWaits(session, ...asked));
  }

  async markChecked(waits: readonly port.EventWait[]): Promise<void> {
    return this.call((session) => eventWaits.markChecked(session, waits));
  }

  async overdueEventWaits(...asked: Parameters<port.EventStore['overdueEventWaits']>): Promise<port.EventWait[]> {
    return this.call((session) => eventWaits.overdueEventWaits(session, ...asked));
  }

  async fireTimeouts(waits: readonly port.EventWait[], aheadMs: number): Promise<port.FiredTimeouts> {
    return this.call((session) => eventWaits.fireTimeouts(session, waits, aheadMs));
  }

  async pruneEvents(retentionMs: number, limit: number): Promise<number> {
    return this.call((session) => events.pruneEvents(session, retentionMs, limit));
  }

  async listAnnotations(filter: port.AnnotationFilter, scope: port.OwnerScope): Promise<port.AnnotationRow[]> {
    return this.call((session) => listAnnotations(session, filter, scope));
  }
}
