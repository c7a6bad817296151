import { definitionKey, type CompiledDefinition, type CompiledStage } from '../../../../lib/engine/definition/index.js';
import { compileRetryPolicy, type RetryPolicy } from '../../../../lib/engine/retry/index.js';
import type {
  DefinitionSource,
  RunnableStage,
  RuntimeDefinition,
  RuntimeStageType,
} from '../../../../lib/runtime/execution/definition-source.js';

export interface TestStage extends RunnableStage {
  readonly key: string;
  readonly retry?: RetryPolicy;
  readonly timeoutMs?: number;
  readonly queue?: string;
  readonly ability?: string;
  readonly outcomes?: readonly string[];
  readonly when?: CompiledStage['when'];
  readonly input?: RuntimeStageType['inputSchema'];
  readonly output?: RuntimeStageType['outputSchema'];
  /** Instead of the object itself: a provider that is made, or that can't be. */
  readonly make?: () => RunnableStage | Promise<RunnableStage>;
}

/** A stage stands alone, an array of them side by side. */
export type TestNode = TestStage | readonly TestStage[];

export interface TestWorkflow {
  readonly compiled: CompiledDefinition;
  readonly key: string;
  readonly definition: RuntimeDefinition;
  readonly stages: ReadonlyMap<string, TestStage>;
}

/** Delays of nothing, so that no test waits. */
const AT_ONCE: RetryPolicy = { maxAttempts: 3, backoff: 0, jitter: 0 };

export function workflow(
  id: string,
  nodes: readonly TestNode[],
  given: { readonly input?: RuntimeDefinition['inputSchema']; readonly actor?: 'system' | 'on_behalf_of' } = {},
): TestWorkflow {
  const stages = new Map<string, TestStage>();
  const compiled: CompiledDefinition = {
    id,
    version: 1,
    kind: 'pipeline',
    fingerprint: '0123456789abcdef',
    nodes: nodes.map((node, index) => {
      const members = Array.isArray(node) ? (node as readonly TestStage[]) : [node as TestStage];
      for (const stage of members) stages.set(`${id}.${stage.key}`, stage);
      const key = Array.isArray(node) ? `parallel-${index + 1}` : members[0]!.key;
      return { key, index, parallel: Array.isArray(node), stages: members.map((stage) => compiledStage(id, stage)) };
    }),
    settings: {
      queue: null,
      maxStageRuns: 200,
      startsPerMinute: null,
      deadlineMs: null,
      actor: given.actor ?? 'system',
    },
  };
  return {
    compiled,
    key: definitionKey(compiled),
    definition: { compiled, inputSchema: given.input ?? null },
    stages,
  };
}

function compiledStage(workflowId: string, stage: TestStage): CompiledStage {
  return {
    key: stage.key,
    stage: `${workflowId}.${stage.key}`,
    config: {},
    when: stage.when ?? null,
    retry: compileRetryPolicy(stage.retry ?? AT_ONCE, stage.key),
    timeoutMs: stage.timeoutMs ?? null,
    queue: stage.queue ?? null,
    hasCancelHook: typeof stage.cancel === 'function',
  };
}

/** Serves these workflows; ones added later are served from then on, as of a module that is loaded lazily. */
export class TestDefinitions implements DefinitionSource {
  readonly #workflows: TestWorkflow[];
  refreshes = 0;
  /** Brought by the next refresh. */
  readonly lazy: TestWorkflow[] = [];

  constructor(...workflows: TestWorkflow[]) {
    this.#workflows = workflows;
  }

  byKey(key: string): RuntimeDefinition | undefined {
    return this.#workflows.find((candidate) => candidate.key === key)?.definition;
  }

  stageType(id: string): RuntimeStageType | undefined {
    const stage = this.#stage(id);
    return (
      stage && {
        id,
        inputSchema: stage.input ?? null,
        outputSchema: stage.output ?? null,
        ability: stage.ability ?? null,
        sideEffect: true,
        hasCompletionCheck: typeof stage.checkCompletion === 'function',
        outcomes: stage.outcomes ?? null,
      }
    );
  }

  stageIdOf(stage: unknown): string | undefined {
    for (const { stages } of this.#workflows) for (const [id, known] of stages) if (known === stage) return id;
    return undefined;
  }

  refresh(): void {
    this.refreshes++;
    this.#workflows.push(...this.lazy.splice(0));
  }

  mayServe(key: string): boolean {
    this.refresh();
    return this.byKey(key) !== undefined;
  }

  resolve({ id }: RuntimeStageType): RunnableStage | Promise<RunnableStage> {
    const stage = this.#stage(id)!;
    return stage.make ? stage.make() : stage;
  }

  #stage(id: string): TestStage | undefined {
    for (const { stages } of this.#workflows) if (stages.has(id)) return stages.get(id);
    return undefined;
  }
}
