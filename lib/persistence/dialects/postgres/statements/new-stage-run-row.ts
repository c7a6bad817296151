import type { NewStageRun } from '../../../../engine/state/rows.js';

/** A stage run that begins, as statements are handed it. */
export interface NewStageRunRow {
  id: string;
  rid: string;
  node: string;
  position: number;
  key: string;
  stage: string;
  visit: number;
  ordinal: number;
  status: string;
  skip_reason: string | null;
  code: string | null;
  message: string | null;
  output: string | null;
  outcome: string | null;
}

export const NEW_STAGE_RUN_COLUMNS = {
  id: 'uuid',
  rid: 'uuid',
  node: 'text',
  position: 'int',
  key: 'text',
  stage: 'text',
  visit: 'int',
  ordinal: 'int',
  status: 'text',
  skip_reason: 'text',
  code: 'text',
  message: 'text',
  output: 'json',
  outcome: 'text',
} as const;

/** Column by column: V8 takes a microsecond for each property that is added to a spread, and there are many of these rows. */
export function newStageRunRow(rid: string, row: NewStageRun): NewStageRunRow {
  return {
    id: row.id,
    rid,
    node: row.node,
    position: row.position,
    key: row.key,
    stage: row.stage,
    visit: row.visit,
    ordinal: row.ordinal,
    status: row.status,
    skip_reason: row.skipReason,
    code: row.failure?.code ?? null,
    message: row.failure?.message ?? null,
    output: row.output ?? null,
    outcome: row.outcome ?? null,
  };
}
