import type { SetFieldRequest, TransitionAnswer, TransitionRequest } from '../../interfaces/index.js';

/** Changes what runs are about, with the manager of a transaction of the host's: lifecycles of entities, or the host's own. */
export interface SubjectWriter {
  /** @throws SubjectMissingError, OwnerMismatchError; InvalidOptionsError where nobody moves it; what the host's lifecycle throws */
  transition(request: TransitionRequest, manager: unknown): Promise<TransitionAnswer>;
  /** @throws as `transition`; FieldNotWritableError */
  setField(request: SetFieldRequest, manager: unknown): Promise<void>;
}
