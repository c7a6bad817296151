import { ContextCapture, outsideOfRequests, type ContextRunner, type OwnerBoundary } from '../context/index.js';
import type { OwnerScope } from '../engine/ports/index.js';
import type { SubjectSource } from '../runtime/execution/subject-source.js';
import { AnnotationsService } from '../services/annotations.service.js';
import { RoundCommands } from '../services/approvals/round-commands.js';
import { ApprovalsService } from '../services/approvals.service.js';
import { AuditService } from '../services/audit.service.js';
import { DefinitionCommands } from '../services/definitions/definition-commands.js';
import { ownPlace } from '../services/definitions/definition-place.js';
import { DefinitionReader } from '../services/definitions/definition-reader.js';
import type { Templates } from '../services/definitions/templates.js';
import { DefinitionsService } from '../services/definitions.service.js';
import { DryRunner } from '../services/dry-run/dry-runner.js';
import { DeadLetters } from '../services/events/dead-letters.js';
import type { EventStream } from '../services/events/event-stream.js';
import type { EngineReady } from '../services/engine-port.js';
import { EventSender } from '../services/messages/event-sender.js';
import { SubjectToucher } from '../services/messages/subject-toucher.js';
import { SignalSender } from '../services/messages/signal-sender.js';
import type { OperationGate } from '../services/operations/operation-gate.js';
import { Operations } from '../services/operations/operations.js';
import { RouteAccess } from '../services/operations/route-access.js';
import { OwnedRuns } from '../services/runs/owned-runs.js';
import { RunCommands } from '../services/runs/run-commands.js';
import { RunReader } from '../services/runs/run-reader.js';
import { RunResults } from '../services/runs/run-results.js';
import { ChildStarter } from '../services/start/child-starter.js';
import { RunPreparer } from '../services/start/run-preparer.js';
import { TriggerStarter } from '../services/start/trigger-starter.js';
import { RunStarter } from '../services/start/run-starter.js';
import type { SubjectSight } from '../services/start/subject-sight.js';
import type { AmbientTransactions } from '../services/transaction/ambient-transactions.js';
import { TransactionJoiner } from '../services/transaction/transaction-joiner.js';
import { WorkflowOperator } from '../services/workflow-operator.js';
import { WorkflowService } from '../services/workflow.service.js';
import type { Approvers } from './approvers.js';
import type { RuntimeParts } from './runtime-parts.js';
import { turnLimits } from './turn-limits.js';

export interface ServiceAssembly {
  readonly ready: EngineReady;
  readonly stream: EventStream;
  readonly ambient: AmbientTransactions;
  readonly subjects: SubjectSight & SubjectSource;
  readonly contexts: ContextRunner;
  readonly boundary: OwnerBoundary;
  /** Who is asked before runs are changed. */
  readonly gate: () => OperationGate;
  readonly templates: Templates;
  readonly approvers: Pick<Approvers, 'actorId' | 'resolve'>;
}

export interface AssembledServices {
  readonly workflows: WorkflowService;
  readonly annotations: AnnotationsService;
  readonly audit: AuditService;
  readonly approvals: ApprovalsService;
  readonly definitions: DefinitionsService;
  /** For guards of the host's routes. */
  readonly routes: RouteAccess;
  /** For the runtime: children of steps. */
  readonly children: ChildStarter;
  /** For the runtime: events of nodes. */
  readonly events: EventSender;
  /** For the runtime: runs of triggers. */
  readonly triggered: TriggerStarter;
}

/** Puts the services together from their parts. */
export function assembleServices(
  { options, scope, registry }: RuntimeParts,
  { ready, stream, ambient, subjects, contexts, boundary, gate, approvers, templates }: ServiceAssembly,
): AssembledServices {
  const defaultQueue = options.queue.default;
  const capture = new ContextCapture(scope, {
    resolveOwner: options.owners.resolve ?? undefined,
    requiresOwner: options.owners.rowLevelSecurity !== null,
  });
  const joiner = new TransactionJoiner(ambient);
  const defaults = {
    queue: defaultQueue,
    maxInputBytes: options.limits.maxInputBytes,
    keyTtlMs: options.idempotency.ttlMs,
  };
  const messages = { maxPayloadBytes: options.limits.maxOutputBytes };
  const operations = new Operations(capture, gate);
  const owned = new OwnedRuns(boundary);
  const parts = {
    reader: new RunReader(ready, options.messages),
    commands: new RunCommands(ready, joiner, operations, owned, { defaultQueue }),
    results: new RunResults(ready, options.messages),
    signals: new SignalSender(ready, joiner, operations, owned, messages),
    stream,
  };
  const preparer = new RunPreparer(capture, defaults);
  const events = new EventSender(ready, capture, joiner, boundary, messages);
  const dryRunner = new DryRunner({
    preparer,
    contexts,
    subjects,
    approvers,
    stageType: (id) => registry.stageType(id),
    systemActor: () => outsideOfRequests(options.systemActor ?? ((): null => null)),
    limits: turnLimits(options),
  });
  const workflows = new WorkflowService({
    ready,
    dryRunner,
    ...parts,
    capture,
    joiner,
    sender: events,
    toucher: new SubjectToucher(ready, capture, joiner, boundary),
    starter: new RunStarter(ready, preparer, joiner, subjects, boundary, {
      strict: options.idempotency.strict,
    }),
    operator: new WorkflowOperator(parts, new DeadLetters(ready, operations)),
  });
  const scopeOf = async (where: string): Promise<OwnerScope> => ({ owner: await capture.owner({}, where) });
  const annotations = new AnnotationsService(ready, scopeOf);
  const audit = new AuditService(ready, scopeOf);
  const approvals = new ApprovalsService({
    ready,
    scopeOf,
    commands: new RoundCommands(ready, joiner, operations, owned),
    actor: () => operations.caller().actor,
    actorId: (actor) => approvers.actorId(actor),
    remindEveryMs: options.approvals.remindEveryMs,
  });
  const routes = new RouteAccess(ready, capture, operations, boundary);
  const children = new ChildStarter(ready, preparer, subjects, boundary, options.limits);
  const triggered = new TriggerStarter(ready, preparer, subjects, boundary, { keyTtlMs: options.idempotency.ttlMs });
  const hasOwners = options.owners.resolve !== null || options.owners.rowLevelSecurity !== null;
  const definitions = new DefinitionsService(
    {
      ready,
      commands: new DefinitionCommands(ready, operations, boundary),
      reader: new DefinitionReader(ready),
      dryRunner,
      templates,
    },
    ownPlace(capture, hasOwners),
  );
  return { workflows, annotations, audit, approvals, definitions, routes, children, events, triggered };
}
