import type { TableNames } from '../../../table-names.js';
import { answerWaits } from './answer-waits.js';
import {
  changeRound,
  findRound,
  findRoundBeside,
  getRound,
  listAsks,
  lockRoundRun,
  openRound,
  readVisit,
  tellOfRun,
} from './approval-statements.js';
import { applyTransitions } from './apply-transitions.js';
import { listAudit, listAuditOfRun, writeAudit } from './audit-statements.js';
import { addCancelJob, delayCancelJob, finishCancelJob } from './cancel-job-statements.js';
import { deliverChildren, findOrphans, lockParents } from './children.js';
import { findChangeKey, holdJobs, keepChangeKey } from './change-statements.js';
import { claim, claimStageRun } from './claim.js';
import { createRuns } from './create-runs.js';
import { findDrift, saveDefinitions } from './definition-statements.js';
import {
  markChecked,
  markMatched,
  olderUncheckedWaits,
  overdueEventWaits,
  pruneEvents,
  uncheckedWaits,
  unmatchedEvents,
} from './event-sweeps.js';
import { byOwner, findEvents, findWaits } from './find-waits.js';
import { removeForgedSteps } from './forged-steps.js';
import {
  findGraph,
  graphByKey,
  graphExists,
  listGraphs,
  lockGraph,
  publishGraph,
  readGraphHead,
  retireGraphs,
  saveDraft,
  startableGraph,
  startableIds,
  tellOfGraph,
} from './graph-statements.js';
import { fireEvents, fireTimeouts, lockWaitingRuns } from './fire-events.js';
import { listAnnotations, readAnnotations, readLines, readSteps } from './history-statements.js';
import { fallAsleep } from './fall-asleep.js';
import { fireDue, lockDue } from './fire-due.js';
import { extendLeases, findExpired, readFences } from './lease-statements.js';
import { extendSteps, readEffects, readLedger } from './ledger-statements.js';
import { lockAttempt, lockRuns } from './lock-runs.js';
import {
  ackOutbox,
  discardOutbox,
  failOutbox,
  leaseSlots,
  listDeadLetters,
  readOutbox,
  releaseSlots,
  replayDeadLetters,
} from './outbox-statements.js';
import {
  countRuns,
  findRun,
  getRun,
  listRuns,
  lockRun,
  markAwaited,
  readAttempts,
  readFinished,
  readMovement,
  readStageRuns,
  SCOPE_KINDS,
  type ScopeKind,
} from './read-statements.js';
import { readStates } from './read-states.js';
import { record, recordPassing } from './record.js';
import { requeueSent, takeUnsent } from './send-statements.js';
import { lockSignalled, sendSignal } from './send-signal.js';
import { heldKeys, countStarts } from './start-rate-statements.js';
import { storeEvent } from './store-event.js';
import { writeSteps } from './step-writes.js';
import { storeLosses } from './store-losses.js';
import { storeOutcomes } from './store-outcomes.js';
import { writeSuspended } from './suspend.js';
import { firePolls, touchRuns } from './touch-subject.js';
import {
  claimSchedules,
  findEventTriggers,
  findHook,
  listTriggers,
  moveSchedules,
  nextSchedule,
  noteTrigger,
  putTriggers,
  readAncestry,
} from './trigger-statements.js';
import { findOverdue, findStuck, probe, promoteDelayed, pruneKeys } from './wake-statements.js';
import { writeBeside } from './write-beside.js';
import type { Statement } from '../../../data-source/statement.js';

/** Every statement of the store, made once for its table names: their names on the wire are remembered by identity. */
export function createStatements(t: TableNames) {
  const scoped = (make: (t: TableNames, kind: ScopeKind) => Statement) =>
    Object.fromEntries(SCOPE_KINDS.map((kind) => [kind, make(t, kind)])) as Record<ScopeKind, Statement>;
  return {
    createRuns: createRuns(t, 'plain'),
    createRunsKeyed: createRuns(t, 'keyed'),
    createChildren: createRuns(t, 'children'),
    countStarts: countStarts(t),
    heldKeys: heldKeys(t),
    claim: claim(t),
    claimStageRun: claimStageRun(t),
    takeUnsent: takeUnsent(t),
    record: record(t),
    recordPassing: recordPassing(t),
    storeOutcomes: storeOutcomes(t, false),
    storeOutcomesWait: storeOutcomes(t, true),
    storeLosses: storeLosses(t),
    readStates: readStates(t),
    applyTransitions: applyTransitions(t),
    extendLeases: extendLeases(t),
    findExpired: findExpired(t),
    readFences: readFences(t),
    finishCancelJob: finishCancelJob(t),
    delayCancelJob: delayCancelJob(t),
    addCancelJob: addCancelJob(t),
    writeBeside: writeBeside(t),
    readLedger: readLedger(t),
    writeSteps: writeSteps(t),
    removeForgedSteps: removeForgedSteps(t),
    extendSteps: extendSteps(t),
    readEffects: readEffects(t),
    lockAttempt: lockAttempt(t),
    lockRuns: lockRuns(t, false),
    lockRunsWait: lockRuns(t, true),
    writeSuspended: writeSuspended(t),
    fallAsleep: fallAsleep(t),
    answerWaits: answerWaits(t),
    lockDue: lockDue(t),
    fireDue: fireDue(t),
    probe: probe(t),
    promoteDelayed: promoteDelayed(t),
    requeueSent: requeueSent(t),
    findStuck: findStuck(t),
    findOverdue: findOverdue(t),
    pruneKeys: pruneKeys(t),
    lockRun: scoped(lockRun),
    holdJobs: holdJobs(t),
    findChangeKey: findChangeKey(t),
    keepChangeKey: keepChangeKey(t),
    findRun: scoped(findRun),
    getRun: scoped(getRun),
    listRuns: scoped((tables, kind) => listRuns(tables, kind, false)),
    listRunsOfSubject: scoped((tables, kind) => listRuns(tables, kind, true)),
    countRuns: scoped(countRuns),
    markAwaited: scoped(markAwaited),
    readFinished: scoped(readFinished),
    readMovement: readMovement(t),
    readStageRuns: readStageRuns(t),
    readAttempts: readAttempts(t),
    readSteps: readSteps(t),
    readAnnotations: readAnnotations(t),
    readLines: readLines(t),
    listAnnotations: scoped(listAnnotations),
    lockParents: lockParents(t),
    deliverChildren: deliverChildren(t),
    findOrphans: findOrphans(t),
    writeAudit: writeAudit(t),
    listAudit: scoped(listAudit),
    listAuditOfRun: scoped(listAuditOfRun),
    touchRuns: scoped(touchRuns),
    firePolls: firePolls(t),
    putTriggers: putTriggers(t),
    listTriggers: scoped(listTriggers),
    claimSchedules: claimSchedules(t),
    moveSchedules: moveSchedules(t),
    nextSchedule: nextSchedule(t),
    findEventTriggers: findEventTriggers(t),
    findHook: findHook(t),
    noteTrigger: noteTrigger(t),
    readAncestry: readAncestry(t),
    storeEvent: storeEvent(t),
    lockSignalled: scoped(lockSignalled),
    sendSignal: sendSignal(t),
    findWaits: byOwner((owner) => findWaits(t, owner)),
    findEvents: byOwner((owner) => findEvents(t, owner, false)),
    findEventsOfSubject: byOwner((owner) => findEvents(t, owner, true)),
    lockWaitingRuns: lockWaitingRuns(t),
    fireEvents: fireEvents(t),
    fireTimeouts: fireTimeouts(t),
    unmatchedEvents: unmatchedEvents(t),
    markMatched: markMatched(t),
    uncheckedWaits: uncheckedWaits(t),
    olderUncheckedWaits: olderUncheckedWaits(t),
    markChecked: markChecked(t),
    overdueEventWaits: overdueEventWaits(t),
    pruneEvents: pruneEvents(t),
    leaseSlots: leaseSlots(t),
    releaseSlots: releaseSlots(t),
    readOutbox: readOutbox(t),
    ackOutbox: ackOutbox(t),
    failOutbox: failOutbox(t),
    discardOutbox: discardOutbox(t),
    listDeadLetters: listDeadLetters(t),
    replayDeadLetters: replayDeadLetters(t),
    saveDefinitions: saveDefinitions(t),
    findDrift: findDrift(t),
    lockGraph: lockGraph(t),
    readGraphHead: readGraphHead(t),
    saveDraft: saveDraft(t),
    publishGraph: publishGraph(t),
    retireGraphs: retireGraphs(t),
    tellOfGraph: tellOfGraph(t),
    findGraph: findGraph(t),
    startableGraph: startableGraph(t),
    startableIds: startableIds(t),
    graphByKey: graphByKey(t),
    graphExists: graphExists(t),
    listGraphs: scoped(listGraphs),
    findRound: findRound(t),
    findRoundBeside: findRoundBeside(t),
    getRound: scoped(getRound),
    lockRoundRun: scoped(lockRoundRun),
    readVisit: readVisit(t),
    openRound: openRound(t),
    changeRound: changeRound(t),
    tellOfRun: tellOfRun(t),
    listAsks: scoped(listAsks),
  };
}

export type Statements = ReturnType<typeof createStatements>;
