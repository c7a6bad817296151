import type { StageAuthorization } from '../../interfaces/index.js';
import type { RuntimeStageType } from './definition-source.js';

export type GateAnswer = { readonly allowed: true } | { readonly allowed: false; readonly reason?: string };

/** Whether stages may go on: asked after the owner was loaded, before anything of the stage is called (AUTH-1, TX-1). */
export interface StageGate {
  /** The ability to ask about, null where none is named; undefined: nobody has to be asked about this stage. */
  abilityOf(type: RuntimeStageType): string | null | undefined;
  /** Within the run's context. Fails closed: who can't say yes has said no. Never rejects. */
  check(request: StageAuthorization): Promise<GateAnswer>;
}
