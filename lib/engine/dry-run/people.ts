import { readApprovers, type Approver } from '../approvals/index.js';
import { WorkflowError } from '../../errors/index.js';
import type { Expression } from '../expression/index.js';
import type { DryFailure, DryHost } from './dry-given.js';
import type { DryValues } from './dry-values.js';

/** Who is meant. */
export type DryPeople =
  | { readonly kind: 'known'; readonly people: readonly Approver[] }
  | { readonly kind: 'unknown'; readonly why: readonly string[] }
  | { readonly kind: 'problem'; readonly problem: string }
  | { readonly kind: 'failed'; readonly failure: DryFailure };

/** Reads whom an expression, or a list, names: resolvers of the app only read, and are asked. */
export async function peopleOf(
  given: Expression | readonly unknown[],
  node: string,
  values: DryValues,
  host: DryHost,
): Promise<DryPeople> {
  let list: unknown = given;
  if (!Array.isArray(given)) {
    const expression = given as Expression;
    const approvers: Record<string, unknown> = {};
    for (const name of expression.approvers) {
      if (name === undefined) return { kind: 'unknown', why: ['which resolver of approvers is meant'] };
      const answer = await host.approvers(name, node);
      if ('why' in answer) return { kind: 'unknown', why: [`who approvers.${name} are: ${answer.why}`] };
      approvers[name] = answer.given;
    }
    const answer = values.evaluate(expression, { approvers });
    if (answer.kind === 'failed') return { kind: 'problem', problem: answer.problem };
    if (answer.kind === 'unknown') return answer;
    list = answer.value;
  }
  try {
    return { kind: 'known', people: readApprovers(list, node) };
  } catch (error) {
    if (!WorkflowError.is(error)) throw error;
    return { kind: 'failed', failure: { code: error.code, message: error.message } };
  }
}
