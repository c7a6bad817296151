export { SILENT_LOG } from './background/runtime-log.js';
export type { RuntimeLog } from './background/runtime-log.js';
export type { SystemActor } from './execution/acting.js';
export type { ContextScope, ExecutionScope } from './execution/context-scope.js';
export type {
  DefinitionSource,
  RunnableStage,
  RuntimeDefinition,
  RuntimeStageType,
  StageRequest,
} from './execution/definition-source.js';
export type { EventSink, RelayedEvent } from './outbox/relayed-event.js';
export type { ResultHub, ResultOptions } from './result/result-hub.js';
export { Runtime } from './runtime.js';
export type { RuntimeParts } from './runtime.js';
export type { RuntimeSettings } from './runtime-settings.js';
export type { WakeError, WakeReport } from './wake/wake-report.js';
export { WakeTimer } from './wake/wake-timer.js';
export type { GhostReason, JobAnswer, JobMessage, ProcessOptions, ProcessReport } from './worker/job-pump.js';
export type { WorkerEvent } from './worker/worker.js';
