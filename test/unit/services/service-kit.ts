import { ClsServiceManager } from 'nestjs-cls';
import { v7 } from 'uuid';
import { z } from 'zod';
import { ClsScope, ContextCapture, ContextRunner, OwnerBoundary } from '../../../lib/context/index.js';
import type { CompiledDefinition, CompiledStage } from '../../../lib/engine/definition/compiled-definition.js';
import type { Hint, JoinedTransaction, StoredEvent, SubjectName } from '../../../lib/engine/ports/index.js';
import { type MessageOverrides, UnknownWorkflowError } from '../../../lib/errors/index.js';
import type { EnginePort, StartableDefinition } from '../../../lib/services/engine-port.js';
import { AnnotationsService } from '../../../lib/services/annotations.service.js';
import { AuditService } from '../../../lib/services/audit.service.js';
import { DryRunner } from '../../../lib/services/dry-run/dry-runner.js';
import { DeadLetters } from '../../../lib/services/events/dead-letters.js';
import { EventStream } from '../../../lib/services/events/event-stream.js';
import { EventSender } from '../../../lib/services/messages/event-sender.js';
import { SubjectToucher } from '../../../lib/services/messages/subject-toucher.js';
import { SignalSender } from '../../../lib/services/messages/signal-sender.js';
import type { OperationGate } from '../../../lib/services/operations/operation-gate.js';
import { Operations } from '../../../lib/services/operations/operations.js';
import { OwnedRuns } from '../../../lib/services/runs/owned-runs.js';
import { RunCommands } from '../../../lib/services/runs/run-commands.js';
import { RunReader } from '../../../lib/services/runs/run-reader.js';
import { RunResults } from '../../../lib/services/runs/run-results.js';
import { RunPreparer } from '../../../lib/services/start/run-preparer.js';
import type { SubjectSight } from '../../../lib/services/start/subject-sight.js';
import { RunStarter } from '../../../lib/services/start/run-starter.js';
import {
  AmbientTransactions,
  type TransactionHostLike,
} from '../../../lib/services/transaction/ambient-transactions.js';
import { TransactionJoiner } from '../../../lib/services/transaction/transaction-joiner.js';
import { WorkflowOperator } from '../../../lib/services/workflow-operator.js';
import { WorkflowService } from '../../../lib/services/workflow.service.js';
import { MemoryClock, MemoryStore } from '../../../lib/testing/memory/index.js';

export const cls = ClsServiceManager.getClsService();
const scope = new ClsScope(cls);

const stage = (key: string): CompiledStage => ({
  key,
  stage: key,
  config: undefined,
  when: null,
  retry: { maxAttempts: 3, backoff: { kind: 'list', delaysMs: [1_000] }, jitter: 0 } as never,
  timeoutMs: null,
  queue: null,
  hasCancelHook: false,
});

/** A definition of one stage. */
export function definition(id: string, settings: Partial<CompiledDefinition['settings']> = {}): StartableDefinition {
  return {
    compiled: {
      id,
      version: 1,
      kind: 'pipeline',
      fingerprint: 'f'.repeat(16),
      nodes: [{ key: 'hello', index: 0, parallel: false, stages: [stage('hello')] }],
      settings: {
        queue: null,
        maxStageRuns: 200,
        startsPerMinute: null,
        deadlineMs: null,
        actor: 'system',
        ...settings,
      },
    },
    inputSchema: z.object({ name: z.string() }),
  };
}

export interface KitOptions {
  readonly definitions?: readonly StartableDefinition[];
  readonly strict?: boolean;
  readonly hosts?: readonly TransactionHostLike[];
  readonly maxInputBytes?: number;
  readonly maxPayloadBytes?: number;
  readonly messages?: MessageOverrides;
  readonly gate?: OperationGate;
  /** Whether a subject is there, and its owner's. */
  readonly sees?: (subject: SubjectName) => boolean;
}

/** Asks nobody. */
const OPEN_GATE: OperationGate = {
  abilityOf: () => null,
  asks: () => false,
  check: async () => ({ allowed: true }),
};

/** The services on the in-memory store, without Nest and without a worker. */
export function serviceKit({
  definitions = [definition('greet')],
  strict = false,
  hosts = [],
  maxInputBytes = 10_000,
  maxPayloadBytes = 1_000,
  messages = {},
  gate = OPEN_GATE,
  sees = () => false,
}: KitOptions = {}) {
  const clock = MemoryClock.standing(Date.parse('2030-01-01T00:00:00Z'));
  const store = new MemoryStore({ clock });
  const hints: Hint[] = [];
  const due: number[] = [];
  const emitted: StoredEvent[] = [];
  const joined: { transaction: JoinedTransaction; hint: Hint }[] = [];
  const byKey = ({ compiled }: StartableDefinition): string =>
    `${compiled.id}@${compiled.version}#${compiled.fingerprint}`;
  const port: EnginePort = {
    store,
    nextId: v7,
    graphs: { catalogue: () => ({ types: {} }), codeIds: () => [], code: () => undefined },
    definitions: {
      find: async (workflow) => {
        const found = definitions.find(({ compiled }) => compiled.id === workflow);
        if (!found)
          throw new UnknownWorkflowError({
            workflow: String(workflow),
            known: definitions.map(({ compiled }) => compiled.id),
          });
        return found;
      },
      versions: (id) => definitions.map(({ compiled }) => compiled).filter((compiled) => compiled.id === id),
      byKey: (key) => definitions.find((one) => byKey(one) === key)?.compiled,
      load: async (key) => definitions.find((one) => byKey(one) === key)?.compiled,
    },
    announce: (hint) => void hints.push(hint),
    dueIn: (ms) => void due.push(ms),
    eventEmitted: (event) => void emitted.push(event),
    announceWithin: async (transaction, hint) => void joined.push({ transaction, hint }),
    waitForEnd: async (runId, within) => {
      const row = await store.getRun(runId, within);
      if (!row) throw new Error('not there');
      return row;
    },
  };
  const ready = async (): Promise<EnginePort> => port;
  const capture = new ContextCapture(scope, { resolveOwner: (store) => store.get('teamId') });
  const joiner = new TransactionJoiner(
    new AmbientTransactions(
      () => hosts,
      () => true,
    ),
  );
  const operations = new Operations(capture, () => gate);
  const looked: unknown[] = [];
  const subjects: SubjectSight = {
    sees: async (...subject) => {
      looked.push(subject);
      return sees(subject[0]);
    },
  };
  const preparer = new RunPreparer(capture, { queue: 'default', maxInputBytes, keyTtlMs: 60_000 });
  const boundary = new OwnerBoundary();
  const parts = {
    reader: new RunReader(ready, messages),
    commands: new RunCommands(ready, joiner, operations, new OwnedRuns(boundary), { defaultQueue: 'default' }),
    results: new RunResults(ready, messages),
    signals: new SignalSender(ready, joiner, operations, new OwnedRuns(boundary), { maxPayloadBytes }),
    stream: new EventStream(),
  };
  const dryRunner = new DryRunner({
    preparer,
    contexts: new ContextRunner(scope),
    subjects: { load: () => undefined },
    approvers: { resolve: async () => [], actorId: () => null },
    stageType: () => undefined,
    systemActor: () => null,
    limits: { maxOutputBytes: maxPayloadBytes, maxLoopIterations: 1_000 },
  });
  const service = new WorkflowService({
    ...parts,
    ready,
    dryRunner,
    capture,
    joiner,
    sender: new EventSender(ready, capture, joiner, boundary, { maxPayloadBytes }),
    toucher: new SubjectToucher(ready, capture, joiner, boundary),
    starter: new RunStarter(ready, preparer, joiner, subjects, boundary, { strict }),
    operator: new WorkflowOperator(parts, new DeadLetters(ready, operations)),
  });
  const scopeOf = async (where: string) => ({ owner: await capture.owner({}, where) });
  const annotations = new AnnotationsService(ready, scopeOf);
  const audit = new AuditService(ready, scopeOf);
  return { service, annotations, audit, store, clock, hints, due, joined, emitted, looked };
}

/** Runs `fn` as a request of `team` would. */
export function asTeam<T>(team: string | null, fn: () => Promise<T>): Promise<T> {
  return cls.run(async () => {
    cls.set('teamId', team);
    return fn();
  });
}
