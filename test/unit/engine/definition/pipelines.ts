import { compilePipeline, PipelineFlow } from '../../../../lib/engine/definition/index.js';
import type {
  CompiledPipeline,
  PipelineDefaults,
  PipelineSource,
  StageTraits,
} from '../../../../lib/engine/definition/index.js';
import { compileRetryPolicy, DEFAULT_RETRY_POLICY } from '../../../../lib/engine/retry/retry-policy.js';
import { InvalidDefinitionError } from '../../../../lib/errors/index.js';
import type { DefinitionComplaint } from '../../../../lib/errors/index.js';

/** Stage classes that the lookup below knows, by what their traits say. */
const traits = new Map<unknown, StageTraits>();

export function stageClass(id: string, more: Partial<StageTraits> = {}): new () => object {
  const type = { [id]: class {} }[id]!;
  traits.set(type, { id, config: null, retry: null, timeoutMs: null, queue: null, hasCancelHook: false, ...more });
  return type;
}

export const DEFAULTS: PipelineDefaults = {
  retry: DEFAULT_RETRY_POLICY,
  maxAttemptsCap: 10,
  maxStageRuns: 200,
  startsPerMinute: null,
};
export const policy = (maxAttempts: number) => compileRetryPolicy({ maxAttempts }, 'retry');

export function compile(
  define: (flow: PipelineFlow) => unknown,
  source: Partial<PipelineSource> = {},
  defaults: PipelineDefaults = DEFAULTS,
): Promise<CompiledPipeline> {
  const whole = {
    place: 'Analysis (AppModule)',
    id: 'analysis',
    version: 1,
    settings: {},
    define: (flow: unknown) => define(flow as PipelineFlow),
    ...source,
  };
  return compilePipeline(whole, (type) => traits.get(type), defaults);
}

/** What is complained about; fails when nothing is. */
export async function complaintsOf(...given: Parameters<typeof compile>): Promise<readonly DefinitionComplaint[]> {
  const error: unknown = await compile(...given).then(
    () => 'it compiled',
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(InvalidDefinitionError);
  return (error as InvalidDefinitionError).complaints;
}
