import type {
  CompiledDefinition,
  CompiledNode,
  CompiledStage,
} from '../../lib/engine/definition/compiled-definition.js';
import { DEFAULT_RETRY_POLICY } from '../../lib/engine/retry/index.js';

/** A compiled stage whose key is its type. */
export const stage = (key: string, more: Partial<CompiledStage> = {}): CompiledStage => ({
  key,
  stage: key,
  config: null,
  when: null,
  retry: DEFAULT_RETRY_POLICY,
  timeoutMs: null,
  queue: null,
  hasCancelHook: false,
  ...more,
});

export const single = (index: number, one: CompiledStage): CompiledNode => ({
  key: one.key,
  index,
  parallel: false,
  stages: [one],
});

export const parallel = (index: number, ...stages: CompiledStage[]): CompiledNode => ({
  key: `parallel-${index}`,
  index,
  parallel: true,
  stages,
});

export const definition = (
  nodes: CompiledNode[],
  settings: Partial<CompiledDefinition['settings']> = {},
): CompiledDefinition => ({
  id: 'd',
  version: 1,
  kind: 'pipeline',
  fingerprint: 'f',
  nodes,
  settings: { queue: null, maxStageRuns: 200, startsPerMinute: null, deadlineMs: null, actor: 'system', ...settings },
});
