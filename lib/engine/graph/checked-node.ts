import { z } from 'zod';
import { isIdentifier } from '../definition/index.js';
import { chooseRetryPolicy } from '../retry/index.js';
import { parseDurationMs } from '../time/index.js';
import { BUILT_IN_TYPES } from './built-in-types.js';
import { checkBuiltInConfig, type CheckedConfig } from './checked-config.js';
import { checkEscalations } from './checked-escalation.js';
import type { CompiledGraphNode } from './compiled-graph.js';
import type { GraphCheck } from './graph-check.js';
import type { GraphStageType } from './graph-catalogue.js';
import { isBuiltInType, nodeSchemas, stageNode } from './node-schemas.js';
import { DONE, outcome, type Outcome, SKIPPED } from './outcome.js';
import { parseWith } from './schema-issues.js';
import { checkStageConfig } from './stage-config.js';

/** A node that was looked at on its own: all but what the edges say. */
export interface CheckedNode {
  /** Place in the list of nodes, from 0. */
  readonly at: number;
  readonly id: string;
  readonly type: string;
  /** What it may end with; null where the type or the config is not right, and nobody can tell. */
  readonly outcomes: readonly Outcome[] | null;
  /** All that is known of it, where it has no problem that matters. */
  readonly compiled: Omit<CompiledGraphNode, 'edges' | 'body' | 'skipOutcome'>;
}

/** What a node says beside its type's own; each type's schema has some of it. */
interface NodeParts {
  readonly id?: string;
  readonly type?: string;
  readonly config?: unknown;
  readonly when?: string;
  readonly input?: unknown;
  readonly retry?: unknown;
  readonly timeout?: string;
  readonly queue?: string;
  readonly escalations?: readonly unknown[];
}

const open = z.unknown().optional();
const openList = z.array(z.unknown()).max(20).optional();

/** The schemas of nodes with config and escalations left open: those are looked at by their own types. */
const OPEN_SCHEMAS = Object.fromEntries(
  [...Object.entries(nodeSchemas), ['', stageNode] as const].map(([type, schema]) => {
    const escalated = 'escalations' in schema.shape ? { escalations: openList } : {};
    return [type, (schema as z.ZodObject).extend({ config: open, ...escalated })];
  }),
);

/** Checks one node on its own; undefined where it has no id to go by. Each problem stands at its place. */
export async function checkNode(given: unknown, at: number, check: GraphCheck): Promise<CheckedNode | undefined> {
  const path = ['nodes', at];
  const { problems, defaults } = check;
  const raw = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>;
  const builtIn = isBuiltInType(raw.type);
  const schema = OPEN_SCHEMAS[builtIn ? (raw.type as string) : '']!;
  const parts = (parseWith(schema, given, { path }, problems) ?? usableParts(raw, schema)) as NodeParts;
  const { id, type } = raw;
  // One that cannot be used as an id is told by the schema, and edges still find it.
  if (typeof id !== 'string') return undefined;
  const stageType = builtIn || !isIdentifier(type) ? undefined : check.stageType(type, [...path, 'type']);
  const config = await checkConfig(raw, path, id, stageType, check);
  const escalations = await checkEscalations(parts.escalations ?? [], path, id, type, check);
  const retry = check.retry(parts.retry, [...path, 'retry']);
  const { when, input, timeout, queue } = parts;
  return {
    at,
    id,
    type: String(type),
    outcomes: config && withOwn(config.outcomes, when !== undefined || !builtIn, escalations.outcomes),
    compiled: {
      id,
      index: at,
      type: String(type),
      builtIn,
      config: config?.value,
      expressions: config?.expressions ?? new Map(),
      mappings: config?.mappings ?? new Map(),
      when: check.optional(when, 'bool', 'node', [...path, 'when'], id),
      input: check.mapping(input, 'node', [...path, 'input'], id),
      retry: chooseRetryPolicy({
        ...(retry && { node: retry }),
        ...(check.settingsRetry && { settings: check.settingsRetry }),
        ...(stageType?.retry && { stage: stageType.retry }),
        moduleDefault: defaults.retry,
        cap: defaults.maxAttemptsCap,
      }),
      timeoutMs: timeout === undefined ? (stageType?.timeoutMs ?? null) : parseDurationMs(timeout, 'timeout'),
      queue: queue ?? stageType?.queue ?? null,
      hasCancelHook: stageType?.hasCancelHook ?? false,
      escalations: escalations.compiled,
    },
  };
}

/** What of a node with a misfit can be looked at all the same, so that one look tells everything. */
function usableParts({ when, input, escalations }: Record<string, unknown>, { shape }: z.ZodObject): NodeParts {
  return {
    ...(typeof when === 'string' && 'when' in shape ? { when } : {}),
    ...('input' in shape ? { input } : {}),
    ...(Array.isArray(escalations) && 'escalations' in shape ? { escalations: escalations.slice(0, 20) } : {}),
  };
}

async function checkConfig(
  { type, config }: Record<string, unknown>,
  path: readonly (string | number)[],
  id: string,
  stageType: GraphStageType | undefined,
  check: GraphCheck,
): Promise<CheckedConfig | null> {
  const at = [...path, 'config'];
  if (isBuiltInType(type)) return checkBuiltInConfig(BUILT_IN_TYPES[type], config, at, id, check) ?? null;
  if (stageType === undefined) return null;
  const value = await checkStageConfig(config, stageType, String(type), at, check.problems);
  const names = stageType.outcomes ?? [DONE];
  const outcomes = names.map((name) => outcome(name, { main: names.length === 1 }));
  return { value, outcomes, expressions: new Map(), mappings: new Map() };
}

/** The type's outcomes, those of edges that escalations take, and `skipped` where the node may be left out. */
function withOwn(outcomes: readonly Outcome[], mayBeSkipped: boolean, taken: readonly string[]): readonly Outcome[] {
  const all = [...outcomes];
  const add = (name: string, required: boolean): void => {
    if (!all.some((one) => one.name === name)) all.push(outcome(name, { required }));
  };
  for (const name of taken) add(name, true);
  if (mayBeSkipped) add(SKIPPED, false);
  return all;
}
