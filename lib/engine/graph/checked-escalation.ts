import { chooseRetryPolicy } from '../retry/index.js';
import { parseDurationMs } from '../time/index.js';
import { peopleSites } from './built-in-types.js';
import type { CompiledEscalation } from './compiled-graph.js';
import { escalationActions, isEscalationAction, stageAction, uncheckedEscalation } from './escalation-schemas.js';
import { freezeDeep } from './freeze-deep.js';
import type { GraphStageType } from './graph-catalogue.js';
import type { GraphCheck } from './graph-check.js';
import type { GraphPath } from './graph-problem.js';
import { parseWith } from './schema-issues.js';
import { checkStageConfig } from './stage-config.js';

export interface CheckedEscalations {
  readonly compiled: readonly CompiledEscalation[];
  /** The outcomes whose edges are taken. */
  readonly outcomes: readonly string[];
}

/** What an action says, whichever it is. */
interface ActionParts {
  readonly type: string;
  readonly to?: string | readonly string[];
  readonly workflow?: string;
  readonly outcome?: string;
  readonly config?: unknown;
  readonly input?: unknown;
}

/** Checks the escalations of a node. */
export async function checkEscalations(
  given: readonly unknown[],
  nodePath: GraphPath,
  node: string,
  nodeType: unknown,
  check: GraphCheck,
): Promise<CheckedEscalations> {
  const compiled: CompiledEscalation[] = [];
  const outcomes: string[] = [];
  for (const [at, one] of given.entries()) {
    const path = [...nodePath, 'escalations', at];
    const parts = parseWith(uncheckedEscalation, one, { path }, check.problems);
    if (parts === undefined) continue;
    const action = await checkAction(parts.action, [...path, 'action'], node, nodeType, check);
    if (action === undefined) continue;
    if (action.type === 'take_edge') outcomes.push(String(action.action.outcome));
    compiled.push({ level: at + 1, afterMs: parseDurationMs(parts.after, 'after'), ...action });
  }
  return { compiled, outcomes };
}

async function checkAction(
  given: { readonly type: string },
  path: GraphPath,
  node: string,
  nodeType: unknown,
  check: GraphCheck,
): Promise<Omit<CompiledEscalation, 'level' | 'afterMs'> | undefined> {
  const { type } = given;
  const stageType = isEscalationAction(type) ? undefined : check.stageType(type, [...path, 'type']);
  const schema = isEscalationAction(type) ? escalationActions[type] : stageAction;
  const parts = parseWith(schema, given, { path }, check.problems) as ActionParts | undefined;
  const config =
    stageType && parts && (await checkStageConfig(parts.config, stageType, type, [...path, 'config'], check.problems));
  if (parts === undefined) return undefined;
  if (type === 'reassign' && nodeType !== 'approval') {
    const message = `Only an approval can be given to others: reassign does not fit a node of type ${String(nodeType)}`;
    check.problems.add('INVALID_SHAPE', [...path, 'type'], { message });
  }
  if (parts.workflow !== undefined) check.workflow(parts.workflow, [...path, 'workflow']);
  let to: CompiledEscalation['to'] = typeof parts.to === 'string' ? null : (parts.to ?? null);
  for (const site of peopleSites(parts.to, [...path, 'to']))
    to = check.expressions.compile(site.text, site.gives, 'people', site.path, node) ?? null;
  return {
    type,
    action: freezeDeep({ ...parts, ...(config === undefined ? {} : { config }) }),
    to,
    input: check.mapping(parts.input, 'node', [...path, 'input'], node),
    ...traitsOf(stageType, check),
  };
}

/** Those of the action's type: a node's own retry and queue say nothing of what happens because it takes long. */
function traitsOf(
  type: GraphStageType | undefined,
  { defaults, settingsRetry }: GraphCheck,
): Pick<CompiledEscalation, 'retry' | 'timeoutMs' | 'queue' | 'hasCancelHook'> {
  return {
    retry: chooseRetryPolicy({
      ...(settingsRetry && { settings: settingsRetry }),
      ...(type?.retry && { stage: type.retry }),
      moduleDefault: defaults.retry,
      cap: defaults.maxAttemptsCap,
    }),
    timeoutMs: type?.timeoutMs ?? null,
    queue: type?.queue ?? null,
    hasCancelHook: type?.hasCancelHook ?? false,
  };
}
