import type { StageAuthorization } from '../interfaces/index.js';

/** The stage that is asked about, as the log names it. */
export function stageText({ run, stage }: StageAuthorization): string {
  return `Stage ${stage.key} (${stage.runId}) of run ${run.id}`;
}
