import type { AuthorizationRequest, Operation } from '../interfaces/index.js';
import type { GateAnswer } from '../runtime/execution/stage-gate.js';
import type { OperationGate, OperationQuestion } from '../services/operations/operation-gate.js';
import type { AuthorizerGateParts } from './authorizer-gate.js';
import { questionText } from './question.js';

export interface AuthorizerOperationGateParts extends Pick<AuthorizerGateParts, 'policies' | 'own' | 'asking'> {
  /** `authorization.operations`: by operation; null = none. */
  readonly operations: Readonly<Record<Operation, string | null>>;
  /** Makes the owner that policies see of the stored id. */
  readonly loadOwner: (id: string) => unknown;
}

/** The authorizer as operators' calls ask it: the same as stages ask (AUTH-5). */
export class AuthorizerOperationGate implements OperationGate {
  constructor(private readonly parts: AuthorizerOperationGateParts) {}

  abilityOf(operation: Operation): string | null {
    return this.parts.operations[operation];
  }

  asks(ability: string | null): boolean {
    return ability !== null || this.parts.own !== null;
  }

  async check(question: OperationQuestion, ownerId: string | null): Promise<GateAnswer> {
    const { own, policies, asking, loadOwner } = this.parts;
    let owner: unknown = null;
    const loading = async (): Promise<true> => {
      owner = ownerId === null ? null : ((await loadOwner(ownerId)) ?? null);
      return true;
    };
    // An owner that can't be loaded is no owner that anybody could decide about.
    const loaded = await asking.ask('owners.load', questionText(question), loading);
    if (!loaded.allowed) return loaded;
    const request = { ...question, owner } as AuthorizationRequest;
    if (!own) return policies.authorize(request) as Promise<GateAnswer>;
    return asking.ask('the authorizer', questionText(request), async () => (await own(request)).authorize(request));
  }
}
