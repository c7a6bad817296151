import type { CompiledRetryPolicy } from '../engine/retry/index.js';

/** What the module options say of the moving parts, in milliseconds and bytes. */
export interface RuntimeSettings {
  /** Unique per process incarnation (LEASE-1). */
  readonly workerId: string;
  readonly concurrency: number;
  readonly pollMs: number;
  /** null = every queue. */
  readonly queues: readonly string[] | null;
  readonly defaultQueue: string;
  readonly heartbeatMs: number;
  readonly staleMs: number;
  /** 0 = no absolute cap. */
  readonly capMs: number;
  readonly maxLosses: number;
  /** The module's default policy. */
  readonly retryPolicy: CompiledRetryPolicy;
  readonly outboxPolicy: CompiledRetryPolicy;
  readonly maxOutputBytes: number;
  readonly versionDeferMs: number;
  readonly stuckAfterMs: number;
  readonly wakeBatch: number;
}
