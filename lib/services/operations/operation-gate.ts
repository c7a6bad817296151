import type {
  DefinitionAuthorization,
  Operation,
  OperationAuthorization,
  RequestAuthorization,
} from '../../interfaces/index.js';
import type { GateAnswer } from '../../runtime/execution/stage-gate.js';

/** A question without the owner as the host sees him: the gate loads him. */
export type OperationQuestion =
  Omit<OperationAuthorization, 'owner'> | Omit<DefinitionAuthorization, 'owner'> | Omit<RequestAuthorization, 'owner'>;

/** Who is asked before an operator's call changes anything (AUTH-5). */
export interface OperationGate {
  /** The ability that the module names for an operation; null = none. */
  abilityOf(operation: Operation): string | null;
  /** Whether anybody is to be asked: without an authorizer of the host's, only where an ability is named. */
  asks(ability: string | null): boolean;
  /** In the caller's context. Fails closed: who can't say yes has said no. Never rejects. */
  check(question: OperationQuestion, ownerId: string | null): Promise<GateAnswer>;
}
