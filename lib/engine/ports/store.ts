import type { AnnotationStore } from './annotation-store.js';
import type { ApprovalStore } from './approval-store.js';
import type { AuditStore } from './audit-store.js';
import type { EventStore } from './event-store.js';
import type { GraphStore } from './graph-store.js';
import type { RunStore } from './run-store.js';
import type { StartStore } from './start-store.js';
import type { StepStore } from './step-store.js';
import type { DefinitionStore, OutboxStore, WakeStore } from './wake-store.js';
import type { TriggerStore } from './trigger-store.js';
import type { SubjectStore } from './subject-store.js';
import type { WorkStore } from './work-store.js';

/** Everything the engine keeps. Implemented by the PostgreSQL store and the in-memory one; both pass test/conformance. */
export interface WorkflowStore
  extends
    StartStore,
    WorkStore,
    StepStore,
    SubjectStore,
    EventStore,
    RunStore,
    AnnotationStore,
    ApprovalStore,
    AuditStore,
    TriggerStore,
    WakeStore,
    OutboxStore,
    DefinitionStore,
    GraphStore {
  /** Added to the database's clock in every statement. Zero in production; the testing kit travels by it. */
  clockOffsetMs: number;
  /** Whether a failed call may be tried again unchanged: connection lost, server restarting, read-only, deadlock, full. */
  isTransient(error: unknown): boolean;
  /** Whether an error is about the values written (SQLSTATE 22, 23): the caller isolates the row. */
  isDataError(error: unknown): boolean;
  close(): Promise<void>;
}
