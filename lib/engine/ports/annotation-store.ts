import type { JsonText } from '../state/rows.js';
import type { OwnerScope } from './scope.js';

/** A fact about a run or a stage (ANN-1), written with the outcome that it belongs to. */
export interface AnnotationRow {
  readonly id: string;
  readonly runId: string;
  /** The stage run whose body noted it down, whatever its scope; null = nobody's. */
  readonly stageRunId: string | null;
  /** The attempt that noted it down. */
  readonly attempt: number | null;
  readonly key: string;
  readonly value: JsonText;
  readonly scope: 'run' | 'stage';
  readonly actor: JsonText | null;
  /** ISO 8601, of the database's clock. */
  readonly createdAt: string;
}

export interface AnnotationFilter {
  readonly runId: string;
  /** Keys that begin like this. */
  readonly keyPrefix?: string;
  readonly scope?: AnnotationRow['scope'];
  /** The very JSON text that was stored. */
  readonly actor?: JsonText;
  readonly attempt?: number;
  /** Written at this instant (ISO 8601) or later. */
  readonly since?: string;
  /** Written before this instant (ISO 8601). */
  readonly until?: string;
  /** Annotations before this id (they are listed newest first): the last id of the page before. */
  readonly before?: string;
  readonly limit: number;
}

export interface AnnotationStore {
  /** Annotations of one run, newest first. None for a run of another scope, as for one that does not exist. */
  listAnnotations(filter: AnnotationFilter, scope: OwnerScope): Promise<AnnotationRow[]>;
}
