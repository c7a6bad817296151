import { InvalidDefinitionError } from '../../errors/index.js';
import { checkDeclaredStage, type CheckedStage } from './checked-stage.js';
import type { CompiledDefinition, CompiledNode } from './compiled-definition.js';
import { Complaints } from './complaints.js';
import { show } from './common-options.js';
import { checkSettings } from './definition-settings.js';
import { IDENTIFIER_RULE, isIdentifier } from './identifier.js';
import { PipelineFlow, type DeclaredNode } from './pipeline-flow.js';
import { assignKeys, type KeyedNode } from './pipeline-keys.js';
import type { PipelineDefaults, PipelineSource } from './pipeline-source.js';
import type { StageLookup } from './stage-traits.js';
import { fingerprintOf, structureText } from './structure.js';

/** Versions are kept in an integer column. */
const MAX_VERSION = 2 ** 31 - 1;

export interface CompiledPipeline {
  /** Frozen, every part of it. */
  readonly definition: CompiledDefinition;
  /** Canonical JSON of what the fingerprint is taken of. */
  readonly structure: string;
}

/**
 * Builds a pipeline and checks all of it.
 *
 * Calls `define` once. Asynchronous because config schemas may have asynchronous refinements.
 *
 * @throws InvalidDefinitionError with every complaint there is, never only the first.
 */
export async function compilePipeline(
  source: PipelineSource,
  lookup: StageLookup,
  defaults: PipelineDefaults,
): Promise<CompiledPipeline> {
  const complaints = new Complaints();
  const { place } = source;
  const id = checkId(source, complaints);
  const version = checkVersion(source, complaints);
  const checked = checkSettings(source, defaults, complaints);
  const declared = declareNodes(source, complaints);

  const stages: CheckedStage[][] = [];
  for (const node of declared) {
    const branches: CheckedStage[] = [];
    for (const stage of node.stages) {
      branches.push(
        await checkDeclaredStage(stage, node, stages.length, {
          place,
          lookup,
          defaults,
          settingsRetry: checked.retry,
          complaints,
        }),
      );
    }
    stages.push(branches);
  }
  const keyed = assignKeys(
    declared,
    stages.map((branches) => branches.map(({ stage }) => stage)),
    place,
    complaints,
  );
  checkSize(stages, checked.settings.maxStageRuns, place, complaints);

  // A stage that is faulty itself was complained about where it stands.
  if (complaints.any || stages.flat().some(({ stage }) => stage === undefined)) {
    throw new InvalidDefinitionError({
      workflow: typeof source.id === 'string' ? source.id : undefined,
      complaints: complaints.list,
    });
  }
  const structure = structureText(structureOf(declared, keyed, stages));
  const definition: CompiledDefinition = Object.freeze({
    id,
    version,
    kind: 'pipeline',
    fingerprint: fingerprintOf(structure),
    nodes: Object.freeze(declared.map((node, index) => compileNode(node, index, keyed[index]!, stages[index]!))),
    settings: Object.freeze(checked.settings),
  });
  return { definition, structure };
}

function checkId({ place, id }: PipelineSource, complaints: Complaints): string {
  if (isIdentifier(id)) return id;
  complaints.add(place, `@Workflow has the id ${show(id)}.`, `Use ${IDENTIFIER_RULE}.`);
  return '';
}

function checkVersion({ place, version }: PipelineSource, complaints: Complaints): number {
  if (Number.isInteger(version) && (version as number) >= 1 && (version as number) <= MAX_VERSION)
    return version as number;
  complaints.add(place, `@Workflow has the version ${show(version)}.`, `Use an integer from 1 to ${MAX_VERSION}.`);
  return 1;
}

function declareNodes({ place, define }: PipelineSource, complaints: Complaints): readonly DeclaredNode[] {
  let flow: unknown;
  try {
    flow = define(PipelineFlow.empty());
  } catch (error) {
    complaints.addThrown(place, 'define(flow) threw', error);
    return [];
  }
  if (!(flow instanceof PipelineFlow)) {
    if (flow instanceof Promise) flow.catch(() => undefined);
    const what = flow instanceof Promise ? 'a Promise' : show(flow);
    complaints.add(
      place,
      `define(flow) returned ${what}.`,
      'Return the flow that the last call returned, and not later: `return flow.pipe(…)`.',
    );
    return [];
  }
  if (flow.dropped > 0) {
    complaints.add(
      place,
      `define(flow) dropped the result of ${flow.dropped === 1 ? 'a call' : `${flow.dropped} calls`} of pipe or parallel, whose stages would never run.`,
      'Chain the calls, or keep what each returns: `flow = flow.pipe(…)`.',
    );
  } else if (flow.nodes.length === 0) {
    complaints.add(place, 'the pipeline is empty.', 'Add a stage: `return flow.pipe(SomeStage)`.');
  }
  flow.nodes.forEach((node, at) => {
    if (node.stages.length === 0)
      complaints.add(place, `node ${at + 1} is a parallel group without branches.`, 'Give it one, or remove it.');
  });
  return flow.nodes;
}

function checkSize(stages: CheckedStage[][], most: number, place: string, complaints: Complaints): void {
  const count = stages.flat().length;
  if (count <= most) return;
  complaints.add(
    place,
    `it has ${count} stages, and maxStageRuns is ${most}: no run could complete.`,
    'Split it, or raise `limits.maxStageRuns` of the module.',
  );
}

function structureOf(
  declared: readonly DeclaredNode[],
  keyed: readonly KeyedNode[],
  stages: readonly CheckedStage[][],
) {
  return declared.map(({ parallel }, at) => ({
    key: keyed[at]!.key,
    parallel,
    stages: stages[at]!.map(({ stage, canonicalConfig, when }, branch) => ({
      key: keyed[at]!.stageKeys[branch]!,
      stage: stage!,
      config: canonicalConfig,
      when: when !== null,
    })),
  }));
}

function compileNode(
  { parallel }: DeclaredNode,
  index: number,
  { key, stageKeys }: KeyedNode,
  stages: CheckedStage[],
): CompiledNode {
  const compiled = stages.map(({ stage, config, when, retry, timeoutMs, queue, hasCancelHook }, at) =>
    Object.freeze({ key: stageKeys[at]!, stage: stage!, config, when, retry, timeoutMs, queue, hasCancelHook }),
  );
  return Object.freeze({ key, index, parallel, stages: Object.freeze(compiled) });
}
