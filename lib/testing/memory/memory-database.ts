import { isTerminalRun } from '../../engine/state/statuses.js';
import type { RoundRecord } from './approvals.js';
import type { AuditRecord } from './audit.js';
import { graphGroup, type GraphRecord } from './graphs.js';
import { triggerKey } from './triggers.js';
import { Journal } from './table/journal.js';
import { MemoryTable } from './table/memory-table.js';
import { GroupIndex, SortedIndex } from './table/table-index.js';
import type {
  AttemptRecord,
  DefinitionRecord,
  JobRecord,
  NodeVisitRecord,
  OutboxRecord,
  OutboxSlotRecord,
  RunRecord,
  StageRunRecord,
  StartKeyRecord,
  StartRateRecord,
  TriggerRecord,
} from './records.js';
import type { AnnotationRecord, EventRecord, LogLineRecord, StepRecord } from './step-records.js';

/** How many hash slots the outbox is spread over; a relay leases slots. */
const OUTBOX_SLOTS = 16;

/**
 * Order in which due jobs are claimed: priority, highest first; then when their run was queued; then its id, which
 * follows time. Runs started in one call go depth first: the first ones end while later ones wait.
 */
export const compareJobs = (a: JobRecord, b: JobRecord): number =>
  b.priority - a.priority || a.runAt - b.runAt || compareTexts(a.runId, b.runId) || compareIds(a, b);

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const compareIds = (a: { readonly id: string }, b: { readonly id: string }): number => compareTexts(a.id, b.id);

const compareSteps = (a: StepRecord, b: StepRecord): number =>
  compareTexts(a.stageRunId, b.stageRunId) || compareTexts(a.key, b.key);

export const compareAgesOfSteps = (a: StepRecord, b: StepRecord): number =>
  a.createdAt - b.createdAt || compareSteps(a, b);

export const compareDue = (a: StepRecord, b: StepRecord): number =>
  (a.dueAt ?? 0) - (b.dueAt ?? 0) || compareSteps(a, b);

const compareAges = (a: EventRecord, b: EventRecord): number => a.createdAt - b.createdAt || compareIds(a, b);

const isOpen = ({ status }: StepRecord): boolean => status === 'waiting';

const isEventWait = (row: StepRecord): boolean => isOpen(row) && row.kind === 'event';

const byRun = <Row extends { readonly runId: string }>(): GroupIndex<Row> => new GroupIndex((row) => row.runId);

/**
 * The tables that stores of one process share: two `MemoryStore`s on one database are two processes on one PostgreSQL.
 *
 * Gone with the process: for tests and trials, never for production.
 */
export class MemoryDatabase {
  readonly journal = new Journal();

  readonly stageRunsOf = byRun<StageRunRecord>();
  readonly attemptsOf = byRun<AttemptRecord>();
  readonly jobsOf = byRun<JobRecord>();
  readonly dueJobs = new SortedIndex<JobRecord>((job) => job.state === 'due', compareJobs);
  readonly claimedJobs = new SortedIndex<JobRecord>((job) => job.state === 'claimed', compareIds);
  readonly delayedJobs = new SortedIndex<JobRecord>(
    (job) => job.state === 'delayed',
    (a, b) => a.runAt - b.runAt || compareIds(a, b),
  );
  readonly sentJobs = new SortedIndex<JobRecord>(
    (job) => job.state === 'sent',
    (a, b) => (a.sentAt ?? 0) - (b.sentAt ?? 0) || compareIds(a, b),
  );
  readonly waitingOutbox = new SortedIndex<OutboxRecord>(
    (row) => !row.dead,
    (a, b) => a.id - b.id,
  );

  readonly childrenOf = new GroupIndex<RunRecord>((run) => run.parentRunId ?? undefined);
  /** Ended children whose parents don't know. */
  readonly endedChildren = new SortedIndex<RunRecord>(
    (run) => run.parentWaits && !run.parentTold && isTerminalRun(run.status),
    compareIds,
  );
  /** Open children whose parents ended. */
  readonly orphans = new SortedIndex<RunRecord>((run) => run.cancelAsked && !isTerminalRun(run.status), compareIds);

  readonly stepsOf = new GroupIndex<StepRecord>((row) => row.stageRunId);
  /** Open waits by run. */
  readonly waitsOf = new GroupIndex<StepRecord>((row) => (isOpen(row) ? row.runId : undefined));
  readonly stepsByEvent = new GroupIndex<StepRecord>((row) => row.eventId ?? undefined);
  /** Open waits that time may end. Those for events stand apart: what lies there for them is matched before they time out. */
  readonly dueWaits = new SortedIndex<StepRecord>(
    (row) => isOpen(row) && row.kind !== 'event' && row.dueAt !== null,
    compareDue,
  );
  readonly dueEventWaits = new SortedIndex<StepRecord>((row) => isEventWait(row) && row.dueAt !== null, compareDue);
  readonly eventWaits = new GroupIndex<StepRecord>((row) =>
    isEventWait(row) && row.eventKey !== null ? ownedKey(row.eventKey, row.ownerId) : undefined,
  );
  readonly uncheckedWaits = new SortedIndex<StepRecord>((row) => isEventWait(row) && !row.checked, compareAgesOfSteps);

  readonly eventsByKey = new GroupIndex<EventRecord>((event) =>
    event.runId === null ? ownedKey(event.key, event.ownerId) : undefined,
  );
  /** Signals that no wait got yet. */
  readonly untakenSignals = new GroupIndex<EventRecord>((event) =>
    event.runId === null || event.taken ? undefined : signalKey(event.runId, event.key),
  );
  readonly eventsByMessage = new GroupIndex<EventRecord>((event) => event.messageDigest ?? undefined);
  readonly unmatchedEvents = new SortedIndex<EventRecord>(
    (event) => !event.matched && event.runId === null,
    compareAges,
  );
  readonly eventsByAge = new SortedIndex<EventRecord>(() => true, compareAges);

  readonly annotationsOf = byRun<AnnotationRecord>();
  readonly logLinesOf = byRun<LogLineRecord>();
  readonly roundsOf = byRun<RoundRecord>();
  readonly graphsOf = new GroupIndex<GraphRecord>(graphGroup);

  readonly runs = this.#table<RunRecord>('runs', (run) => run.id, [this.childrenOf, this.endedChildren, this.orphans]);
  readonly stageRuns = this.#table<StageRunRecord>('stage_runs', (row) => row.id, [this.stageRunsOf]);
  readonly nodeVisits = this.#table<NodeVisitRecord>('node_visits', nodeVisitKey);
  readonly attempts = this.#table<AttemptRecord>('attempts', (row) => row.id, [this.attemptsOf]);
  readonly jobs = this.#table<JobRecord>('jobs', (job) => job.id, [
    this.jobsOf,
    this.dueJobs,
    this.claimedJobs,
    this.delayedJobs,
    this.sentJobs,
  ]);
  readonly startKeys = this.#table<StartKeyRecord>('idempotency_keys', (key) => key.digest);
  readonly startRates = this.#table<StartRateRecord>('start_rates', (row) => row.definitionId);
  readonly triggers = this.#table<TriggerRecord>('triggers', triggerKey);
  readonly outbox = this.#table<OutboxRecord>('outbox', (row) => String(row.id), [this.waitingOutbox]);
  readonly outboxSlots = this.#table<OutboxSlotRecord>('outbox_slots', (row) => String(row.slot));
  readonly steps = this.#table<StepRecord>('steps', (row) => stepKey(row.stageRunId, row.key), [
    this.stepsOf,
    this.waitsOf,
    this.stepsByEvent,
    this.dueWaits,
    this.dueEventWaits,
    this.eventWaits,
    this.uncheckedWaits,
  ]);
  readonly events = this.#table<EventRecord>('events', (event) => event.id, [
    this.eventsByKey,
    this.untakenSignals,
    this.eventsByMessage,
    this.unmatchedEvents,
    this.eventsByAge,
  ]);
  readonly audit = this.#table<AuditRecord>('audit', (row) => row.id);
  readonly annotations = this.#table<AnnotationRecord>('annotations', (row) => row.id, [this.annotationsOf]);
  readonly logLines = this.#table<LogLineRecord>('log_lines', (row) => row.id, [this.logLinesOf]);
  readonly definitions = this.#table<DefinitionRecord>('definitions', definitionRecordKey);
  readonly rounds = this.#table<RoundRecord>('approval_rounds', (row) => row.id, [this.roundsOf]);
  readonly graphs = this.#table<GraphRecord>('graphs', (row) => row.id, [this.graphsOf]);

  #lastOutboxId = 0;

  constructor() {
    this.journal.transaction(() => {
      for (let slot = 0; slot < OUTBOX_SLOTS; slot++) {
        this.outboxSlots.insert({ slot, lockedBy: null, lockedUntil: 0, heardAt: null });
      }
    });
  }

  /** Never given twice, not after a call that was undone either: as with a sequence. */
  nextOutboxId(): number {
    return ++this.#lastOutboxId;
  }

  /** The slot of a run: all its events are in one, so that one relay at a time has them. */
  outboxSlotOf(runId: string): number {
    let hash = 0;
    for (let i = 0; i < runId.length; i++) hash = (hash * 31 + runId.charCodeAt(i)) >>> 0;
    return hash % OUTBOX_SLOTS;
  }

  #table<Row extends object>(
    name: string,
    keyOf: (row: Row) => string,
    indexes: readonly (GroupIndex<Row> | SortedIndex<Row>)[] = [],
  ): MemoryTable<Row> {
    return new MemoryTable(name, keyOf, this.journal, indexes);
  }
}

export const stepKey = (stageRunId: string, key: string): string => JSON.stringify([stageRunId, key]);

/** Events and the waits for them find each other by key and owner (TRIG-4). */
export const ownedKey = (key: string, ownerId: string | null): string => JSON.stringify([key, ownerId]);

export const signalKey = (runId: string, name: string): string => JSON.stringify([runId, name]);

export const nodeVisitKey = (visit: Omit<NodeVisitRecord, 'open'>): string =>
  JSON.stringify([visit.runId, visit.generation, visit.node, visit.visit]);

export const definitionRecordKey = (row: Pick<DefinitionRecord, 'id' | 'version' | 'fingerprint'>): string =>
  JSON.stringify([row.id, row.version, row.fingerprint]);
