import type { ClaimedJob, EarlierStageRun } from '../../engine/ports/index.js';
import type { NewStageRun, StageOutcome, Transition } from '../../engine/state/rows.js';

/** The claim that a hand-off stands for: the same job row, the next stage run, the token that was proposed for it. */
export function nextJob(
  job: ClaimedJob,
  outcome: StageOutcome,
  transition: Transition,
  next: NewStageRun,
  token: string,
): ClaimedJob {
  const { node, key, stage } = job.stageRun;
  const completed = outcome.kind === 'completed';
  const own: EarlierStageRun = {
    node,
    key,
    stage,
    output: completed ? outcome.output : null,
    status: completed ? 'COMPLETED' : 'SKIPPED',
    outcome: completed ? (outcome.outcome ?? null) : null,
  };
  return {
    kind: 'execute',
    jobId: job.jobId,
    token,
    run: job.run,
    stageRun: {
      id: next.id,
      node: next.node,
      key: next.key,
      stage: next.stage,
      visit: next.visit,
      ordinal: next.ordinal,
      attempt: 1,
      budgetFrom: 0,
      deferrals: 0,
      hasLedger: false,
      resumed: false,
    },
    earlier: [...job.earlier, own, ...transition.stageRuns.flatMap(passedOf)],
    unlisted: job.unlisted,
    isLatest: true,
  };
}

function passedOf({ node, key, stage, status, output, outcome }: NewStageRun): EarlierStageRun[] {
  if (status !== 'COMPLETED' && status !== 'SKIPPED') return [];
  return [{ node, key, stage, status, output: output ?? null, outcome: outcome ?? null }];
}
