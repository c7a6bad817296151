import { ContextCapture } from '../context/index.js';
import type { TransactionManager } from '../interfaces/index.js';
import { DeadLetters } from '../services/events/dead-letters.js';
import type { EventStream } from '../services/events/event-stream.js';
import type { EngineReady } from '../services/engine-port.js';
import { RunCommands } from '../services/runs/run-commands.js';
import { RunReader } from '../services/runs/run-reader.js';
import { RunResults } from '../services/runs/run-results.js';
import { RunPreparer } from '../services/start/run-preparer.js';
import { RunStarter } from '../services/start/run-starter.js';
import { AmbientTransactions } from '../services/transaction/ambient-transactions.js';
import { TransactionJoiner } from '../services/transaction/transaction-joiner.js';
import { WorkflowOperator } from '../services/workflow-operator.js';
import { WorkflowService } from '../services/workflow.service.js';
import type { HostProviders } from './host-providers.js';
import type { RuntimeParts } from './runtime-parts.js';

export interface ServiceAssembly {
  readonly ready: EngineReady;
  readonly stream: EventStream;
  readonly host: HostProviders;
  readonly ownsManager: (manager: TransactionManager) => boolean;
}

/** Puts `WorkflowService` together from its parts. */
export function assembleWorkflowService(
  { options, scope }: RuntimeParts,
  { ready, stream, host, ownsManager }: ServiceAssembly,
): WorkflowService {
  const defaultQueue = options.queue.default;
  const capture = new ContextCapture(scope, { resolveOwner: options.owners.resolve ?? undefined });
  const joiner = new TransactionJoiner(new AmbientTransactions(() => host.transactionHosts(), ownsManager));
  const defaults = {
    queue: defaultQueue,
    maxInputBytes: options.limits.maxInputBytes,
    keyTtlMs: options.idempotency.ttlMs,
  };
  const parts = {
    reader: new RunReader(ready, options.messages),
    commands: new RunCommands(ready, joiner, { defaultQueue }),
    results: new RunResults(ready, options.messages),
  };
  return new WorkflowService({
    ...parts,
    capture,
    joiner,
    stream,
    starter: new RunStarter(ready, new RunPreparer(capture, defaults), joiner, {
      strict: options.idempotency.strict,
    }),
    operator: new WorkflowOperator(parts, new DeadLetters(ready)),
  });
}
