import type {
  ChangeDecision,
  ChangeOptions,
  ClaimRequest,
  DecideSettled,
  DefinitionRow,
  GraphChangeOptions,
  GraphDecision,
  GraphFilter,
  GraphHead,
  GraphKey,
  GraphName,
  JoinedRecord,
  JoinedTransaction,
  Lease,
  LeaseLimits,
  LinearRecord,
  LockedRound,
  LockedRun,
  LostRecord,
  NewRun,
  OwnerScope,
  RecordOptions,
  RoundChangeOptions,
  RoundDecision,
  RoundPlace,
  RunFilter,
  StartStore,
  StepLease,
  StepWrite,
  SuspendRecord,
  WakeStore,
  UnheardRows,
  WorkflowStore,
} from '../../engine/ports/index.js';
import { isDataError, isTransientError } from '../database-errors.js';
import { createStatements } from '../dialects/postgres/statements/index.js';
import type { EnginePool } from '../engine-pool.js';
import { OpenSessions } from '../row-level-security/owner-sessions.js';
import type { OwnerSessions } from '../row-level-security/owner-sessions.js';
import type { TableNames } from '../table-names.js';
import { PostgresAnnotations } from './annotations.js';
import { PostgresApprovals } from './approvals.js';
import { PostgresAudit } from './audit.js';
import { PostgresChildren } from './children.js';
import { PostgresDefinitions } from './definitions.js';
import { PostgresEvents } from './events.js';
import { PostgresGraphs } from './graphs.js';
import { PostgresOutbox } from './outbox.js';
import { PostgresRecords } from './records.js';
import { PostgresRuns } from './runs.js';
import { PostgresStarts } from './starts.js';
import { PostgresSteps } from './steps.js';
import type { StoreContext } from './store-context.js';
import { PostgresSubjects } from './subjects.js';
import { PostgresTriggers } from './triggers.js';
import { PostgresWake } from './wake.js';
import { PostgresWork } from './work.js';

/**
 * The engine's store on PostgreSQL 13 and later: one part a port, this class only puts them side by side.
 *
 * Everything goes through the engine's own pool; what is asked for one owner through `sessions`, which row-level security holds
 * where it is on. Starts, changes, events and signals take part in a host's transaction when given one.
 */
export class PostgresStore implements WorkflowStore {
  private readonly context: StoreContext;
  private readonly starts: PostgresStarts;
  private readonly work: PostgresWork;
  private readonly records: PostgresRecords;
  private readonly children: PostgresChildren;
  private readonly events: PostgresEvents;
  private readonly steps: PostgresSteps;
  private readonly runs: PostgresRuns;
  private readonly subjects: PostgresSubjects;
  private readonly annotations: PostgresAnnotations;
  private readonly audit: PostgresAudit;
  private readonly triggers: PostgresTriggers;
  private readonly wake: PostgresWake;
  private readonly outbox: PostgresOutbox;
  private readonly definitions: PostgresDefinitions;
  private readonly graphs: PostgresGraphs;
  private readonly approvals: PostgresApprovals;

  constructor(
    private readonly pool: EnginePool,
    tables: TableNames,
    private readonly sessions: OwnerSessions = new OpenSessions(pool),
  ) {
    this.context = { pool, sessions, statements: createStatements(tables), clock: { offsetMs: 0 } };
    this.starts = new PostgresStarts(this.context);
    this.work = new PostgresWork(this.context);
    this.records = new PostgresRecords(this.context);
    this.children = new PostgresChildren(this.context);
    this.events = new PostgresEvents(this.context);
    this.steps = new PostgresSteps(this.context);
    this.runs = new PostgresRuns(this.context);
    this.subjects = new PostgresSubjects(this.context);
    this.annotations = new PostgresAnnotations(this.context);
    this.audit = new PostgresAudit(this.context);
    this.triggers = new PostgresTriggers(this.context);
    this.wake = new PostgresWake(this.context);
    this.outbox = new PostgresOutbox(this.context);
    this.definitions = new PostgresDefinitions(this.context);
    this.graphs = new PostgresGraphs(this.context);
    this.approvals = new PostgresApprovals(this.context);
  }

  get clockOffsetMs(): number {
    return this.context.clock.offsetMs;
  }

  set clockOffsetMs(offsetMs: number) {
    this.context.clock.offsetMs = offsetMs;
  }

  isTransient(error: unknown): boolean {
    return isTransientError(error);
  }

  isDataError(error: unknown): boolean {
    return isDataError(error);
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.close(), this.sessions.close()]);
  }

  // Starts
  heldKeys = (digests: readonly Buffer[], transaction?: JoinedTransaction) =>
    this.starts.heldKeys(digests, transaction);
  countStarts = (...asked: Parameters<StartStore['countStarts']>) => this.starts.countStarts(...asked);
  createRuns = (runs: readonly NewRun[], transaction?: JoinedTransaction) => this.starts.createRuns(runs, transaction);

  // Work
  claim = (request: ClaimRequest) => this.work.claim(request);
  takeUnsent = (limit: number) => this.work.takeUnsent(limit);
  claimStageRun = (...claimed: Parameters<WorkflowStore['claimStageRun']>) => this.work.claimStageRun(...claimed);
  record = (records: readonly LinearRecord[], options?: RecordOptions) => this.records.record(records, options);
  settle = (records: readonly JoinedRecord[], decide: DecideSettled, options?: RecordOptions) =>
    this.records.settle(records, decide, options);
  recordWithin = (...given: Parameters<WorkflowStore['recordWithin']>) => this.records.recordWithin(...given);
  readFences = (stageRunIds: readonly string[]) => this.work.readFences(stageRunIds);
  extendLeases = (leases: readonly Lease[]) => this.work.extendLeases(leases);
  finishCancelJob = (lease: Lease, retryInMs: number | null) => this.work.finishCancelJob(lease, retryInMs);
  addCancelJob = (lease: Lease, jobId: string, queue: string) => this.work.addCancelJob(lease, jobId, queue);
  findExpired = (limits: LeaseLimits, limit: number) => this.work.findExpired(limits, limit);
  reap = (records: readonly LostRecord[], limits: LeaseLimits, decide: DecideSettled) =>
    this.records.reap(records, limits, decide);

  // Children
  deliverChildren = (limit: number) => this.children.deliverChildren(limit);
  findOrphans = (limit: number) => this.children.findOrphans(limit);

  // Subjects
  touch = (...given: Parameters<WorkflowStore['touch']>) => this.subjects.touch(...given);

  // Events
  storeEvent = (...given: Parameters<WorkflowStore['storeEvent']>) => this.events.storeEvent(...given);
  sendSignal = (...given: Parameters<WorkflowStore['sendSignal']>) => this.events.sendSignal(...given);
  findWaits = (...given: Parameters<WorkflowStore['findWaits']>) => this.events.findWaits(...given);
  findEvents = (...given: Parameters<WorkflowStore['findEvents']>) => this.events.findEvents(...given);
  fireEvents = (...given: Parameters<WorkflowStore['fireEvents']>) => this.events.fireEvents(...given);
  unmatchedEvents = (...given: Parameters<WorkflowStore['unmatchedEvents']>) => this.events.unmatchedEvents(...given);
  markMatched = (...given: Parameters<WorkflowStore['markMatched']>) => this.events.markMatched(...given);
  uncheckedWaits = (...given: Parameters<WorkflowStore['uncheckedWaits']>) => this.events.uncheckedWaits(...given);
  markChecked = (...given: Parameters<WorkflowStore['markChecked']>) => this.events.markChecked(...given);
  overdueEventWaits = (...given: Parameters<WorkflowStore['overdueEventWaits']>) =>
    this.events.overdueEventWaits(...given);
  fireTimeouts = (...given: Parameters<WorkflowStore['fireTimeouts']>) => this.events.fireTimeouts(...given);
  pruneEvents = (...given: Parameters<WorkflowStore['pruneEvents']>) => this.events.pruneEvents(...given);

  // Steps
  readLedger = (stageRunIds: readonly string[]) => this.steps.readLedger(stageRunIds);
  writeSteps = (writes: readonly StepWrite[]) => this.steps.writeSteps(writes);
  writeWithin = (write: StepWrite, transaction: JoinedTransaction) => this.steps.writeWithin(write, transaction);
  extendSteps = (leases: readonly StepLease[]) => this.steps.extendSteps(leases);
  readEffects = (digests: readonly Buffer[], ownerId: string | null) => this.steps.readEffects(digests, ownerId);
  suspend = (records: readonly SuspendRecord[], options?: RecordOptions) => this.steps.suspend(records, options);
  answerWaits = (stageRun: Pick<Lease, 'runId' | 'stageRunId'>) => this.steps.answerWaits(stageRun);
  fireDue = (limit: number, aheadMs: number) => this.steps.fireDue(limit, aheadMs);

  // Runs
  changeRun = <R>(
    runId: string,
    scope: OwnerScope,
    decide: (run: LockedRun) => ChangeDecision<R>,
    transaction?: JoinedTransaction,
    options?: ChangeOptions<R>,
  ) => this.runs.changeRun(runId, scope, decide, transaction, options);
  findRun = (...given: Parameters<WorkflowStore['findRun']>) => this.runs.findRun(...given);
  getRun = (runId: string, scope: OwnerScope) => this.runs.getRun(runId, scope);
  listRuns = (filter: RunFilter, scope: OwnerScope) => this.runs.listRuns(filter, scope);
  countRuns = (scope: OwnerScope, definitionId?: string) => this.runs.countRuns(scope, definitionId);
  history = (runId: string, scope: OwnerScope) => this.runs.history(runId, scope);
  awaitRuns = (runIds: readonly string[], scope: OwnerScope) => this.runs.awaitRuns(runIds, scope);
  readFinished = (runIds: readonly string[], scope: OwnerScope) => this.runs.readFinished(runIds, scope);

  // Annotations
  listAnnotations = (...given: Parameters<WorkflowStore['listAnnotations']>) =>
    this.annotations.listAnnotations(...given);

  // Audit
  writeAudit = (...given: Parameters<WorkflowStore['writeAudit']>) => this.audit.writeAudit(...given);
  listAudit = (...given: Parameters<WorkflowStore['listAudit']>) => this.audit.listAudit(...given);

  // Triggers
  putTriggers = (...given: Parameters<WorkflowStore['putTriggers']>) => this.triggers.putTriggers(...given);
  listTriggers = (...given: Parameters<WorkflowStore['listTriggers']>) => this.triggers.listTriggers(...given);
  claimSchedules = (...given: Parameters<WorkflowStore['claimSchedules']>) => this.triggers.claimSchedules(...given);
  moveSchedules = (...given: Parameters<WorkflowStore['moveSchedules']>) => this.triggers.moveSchedules(...given);
  findEventTriggers = (...given: Parameters<WorkflowStore['findEventTriggers']>) =>
    this.triggers.findEventTriggers(...given);
  findHook = (id: string) => this.triggers.findHook(id);
  noteTrigger = (...given: Parameters<WorkflowStore['noteTrigger']>) => this.triggers.noteTrigger(...given);
  readAncestry = (runId: string, ownerId: string | null) => this.triggers.readAncestry(runId, ownerId);
  nextScheduleIn = (aheadMs: number) => this.triggers.nextScheduleIn(aheadMs);

  // Wake
  probe = (thresholds: Parameters<WakeStore['probe']>[0]) => this.wake.probe(thresholds);
  promoteDelayed = (limit: number, aheadMs: number) => this.wake.promoteDelayed(limit, aheadMs);
  requeueSent = (requeueAfterMs: number, limit: number) => this.wake.requeueSent(requeueAfterMs, limit);
  findStuck = (stuckAfterMs: number, after: string | null, limit: number) =>
    this.wake.findStuck(stuckAfterMs, after, limit);
  findOverdue = (limit: number, aheadMs: number) => this.wake.findOverdue(limit, aheadMs);
  pruneKeys = (limit: number) => this.wake.pruneKeys(limit);
  now = () => this.wake.now();

  // Outbox
  leaseSlots = (relayId: string, ttlMs: number, most: number, unheardForMs?: number) =>
    this.outbox.leaseSlots(relayId, ttlMs, most, unheardForMs);
  releaseSlots = (relayId: string) => this.outbox.releaseSlots(relayId);
  readOutbox = (relayId: string, slots: readonly number[], limit: number) =>
    this.outbox.readOutbox(relayId, slots, limit);
  ackOutbox = (ids: readonly string[]) => this.outbox.ackOutbox(ids);
  failOutbox = (id: string, delivered: number, message: string, retryInMs: number | null) =>
    this.outbox.failOutbox(id, delivered, message, retryInMs);
  discardOutbox = (relayId: string, slots: readonly number[], limit: number, unheard: UnheardRows) =>
    this.outbox.discardOutbox(relayId, slots, limit, unheard);
  listDeadLetters = (limit: number) => this.outbox.listDeadLetters(limit);
  replayDeadLetters = (...given: Parameters<WorkflowStore['replayDeadLetters']>) =>
    this.outbox.replayDeadLetters(...given);

  // Definitions
  registerDefinitions = (definitions: readonly DefinitionRow[]) => this.definitions.registerDefinitions(definitions);

  // Approvals
  findRound = (place: RoundPlace) => this.approvals.findRound(place);
  findRoundBeside = (place: RoundPlace) => this.approvals.findRoundBeside(place);
  openRound = (...given: Parameters<WorkflowStore['openRound']>) => this.approvals.openRound(...given);
  changeRound = <R>(
    round: { readonly id: string; readonly runId: string },
    scope: OwnerScope,
    decide: (round: LockedRound) => RoundDecision<R>,
    transaction?: JoinedTransaction,
    options?: RoundChangeOptions<R>,
  ) => this.approvals.changeRound(round, scope, decide, transaction, options);
  getRound = (...given: Parameters<WorkflowStore['getRound']>) => this.approvals.getRound(...given);
  listAsks = (...given: Parameters<WorkflowStore['listAsks']>) => this.approvals.listAsks(...given);

  // Graphs
  changeGraph = <R>(name: GraphName, decide: (head: GraphHead) => GraphDecision<R>, options: GraphChangeOptions<R>) =>
    this.graphs.changeGraph(name, decide, options);
  findGraph = (...given: Parameters<WorkflowStore['findGraph']>) => this.graphs.findGraph(...given);
  startableGraph = (name: GraphName, version: number | null) => this.graphs.startableGraph(name, version);
  startableIds = (ids: readonly string[], ownerId: string | null) => this.graphs.startableIds(ids, ownerId);
  graphByKey = (key: GraphKey, ownerId: string | null) => this.graphs.graphByKey(key, ownerId);
  graphExists = (key: GraphKey) => this.graphs.graphExists(key);
  listGraphs = (filter: GraphFilter, scope: OwnerScope) => this.graphs.listGraphs(filter, scope);
}
