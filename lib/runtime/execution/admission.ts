import { AuthorizationDeniedError } from '../../errors/index.js';
import type { RunInfo, StageAuthorization } from '../../interfaces/index.js';
import type { Attempt } from './attempt.js';
import { completionRow, type ReadLedger } from './completion.js';
import type { StageGate } from './stage-gate.js';
import { inputOf } from './stage-input.js';

/** Whom an attempt acts for, as its context has it, and about what. */
export interface Acting {
  readonly owner: unknown;
  readonly actor: unknown;
  /** What its run is about, loaded; null where there is nothing to load. */
  readonly subject: object | null;
}

export interface AdmissionParts {
  readonly gate: StageGate;
  readonly ledger: ReadLedger;
}

/**
 * Asks the gate whether an attempt may call its stage. Undefined where nobody has to be asked: that costs no tick.
 *
 * @throws AuthorizationDeniedError, never retried (AUTH-4)
 */
export function admission(attempt: Attempt, acting: Acting, parts: AdmissionParts): Promise<void> | undefined {
  const { ofGraph, type } = attempt.served;
  // What happens because somebody was late is asked about always, whatever its stage does else (AUTH-1).
  const ability = parts.gate.abilityOf(ofGraph?.escalation ? { ...type, sideEffect: true } : type);
  return ability === undefined ? undefined : ask(attempt, acting, ability, parts);
}

async function ask(
  attempt: Attempt,
  acting: Acting,
  ability: string | null,
  { gate, ledger }: AdmissionParts,
): Promise<void> {
  const phase = await phaseOf(attempt, ledger);
  const { job, served } = attempt;
  const { id: runId, node, attempt: number } = job.stageRun;
  const { stage: id, key } = served.stage;
  const stage = { id, runId, key, node };
  const escalation = served.ofGraph?.escalation;
  const asked = {
    ...({ kind: 'stage', run: runInfo(attempt), stage, ...acting, ability, attempt: number, phase } as const),
    ...(escalation && { escalation: { level: escalation.level, action: escalation.type } }),
  };
  const answer = await gate.check(asked);
  const what = `${escalation ? 'Escalation' : 'Stage'} ${key}`;
  if (!answer.allowed) throw new AuthorizationDeniedError({ what, ability, reason: answer.reason });
}

async function phaseOf(attempt: Attempt, ledger: ReadLedger): Promise<StageAuthorization['phase']> {
  if (attempt.served.type.hasCompletionCheck && (await completionRow(attempt, ledger))) return 'completion';
  return attempt.job.stageRun.resumed ? 'resume' : 'execute';
}

/** Its input is decoded when somebody looks: most policies don't, and it may be large. */
function runInfo({ job }: Attempt): RunInfo {
  const { id, definitionId: definition, definitionVersion: version, subject } = job.run;
  return {
    id,
    definition,
    version,
    subject,
    get input() {
      return inputOf(job.run);
    },
  };
}
