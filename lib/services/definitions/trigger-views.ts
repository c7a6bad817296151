import type { TriggerKind, TriggerOutcome, TriggerRow } from '../../engine/ports/index.js';

/** What starts runs of a published graph by itself, and what it did so far. */
export interface TriggerView {
  /** Of a webhook: its address is `POST <path>/<hook>`; null of all others. Kept when the graph is published anew. */
  readonly hook: string | null;
  /** Id of the graph. */
  readonly definition: string;
  readonly version: number;
  /** Id of the trigger in the graph. */
  readonly trigger: string;
  readonly type: TriggerKind;
  /** Of whom the graph is; null: all owners share it. */
  readonly owner: string | null;
  /** `retired`: not part of the version that is published now. */
  readonly status: 'active' | 'retired';
  /** Of a schedule: when it is looked at next: at its next instant, and once right after it was published. Null: it is never due again. */
  readonly nextAt: Date | null;
  /** Of a schedule: up to here everything is done. */
  readonly lastAt: Date | null;
  readonly lastRunId: string | null;
  /** What became of the last time; null: there was none. */
  readonly lastOutcome: TriggerOutcome | null;
  readonly lastError: string | null;
  /** Runs that it started. */
  readonly started: number;
  /** Times that it started none. */
  readonly passedOver: number;
}

export function toTriggerView(row: TriggerRow): TriggerView {
  const { id, definitionId, definitionVersion, triggerId, type, ownerId, status, nextAt, lastAt } = row;
  const { lastRunId, lastOutcome, lastError, started, passedOver } = row;
  return {
    hook: type === 'webhook' ? id : null,
    definition: definitionId,
    version: definitionVersion,
    trigger: triggerId,
    type,
    owner: ownerId,
    status,
    nextAt: nextAt === null ? null : new Date(nextAt),
    lastAt: lastAt === null ? null : new Date(lastAt),
    ...{ lastRunId, lastOutcome, lastError, started, passedOver },
  };
}
