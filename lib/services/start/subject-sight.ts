import type { SubjectName } from '../../engine/ports/index.js';
import type { TransactionManager } from '../../interfaces/index.js';

/** Looks at subjects when runs are started. */
export interface SubjectSight {
  /**
   * Whether the subject is there and the owner's, as far as it can be seen from here: in the transaction of the manager, of the
   * caller, or none. False says nothing: a run may be started before what it is about is there.
   *
   * Rejects only where the transaction that the start is part of is broken by it.
   */
  sees(subject: SubjectName, ownerId: string | null, manager?: TransactionManager): Promise<boolean>;
}
