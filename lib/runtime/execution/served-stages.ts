import type { CompiledEscalation, CompiledGraph, CompiledGraphNode } from '../../engine/graph/index.js';
import { actionType, builtInType } from '../nodes/index.js';
import type { CompiledDefinition, CompiledNode, CompiledStage } from '../../engine/definition/compiled-definition.js';
import type { DefinitionSource, RuntimeDefinition, RuntimeStageType } from './definition-source.js';

/** One place of a definition, with all that running it needs. */
export interface ServedStage {
  readonly definition: RuntimeDefinition;
  readonly compiled: CompiledDefinition;
  readonly node: CompiledNode;
  readonly stage: CompiledStage;
  readonly type: RuntimeStageType;
  /** Of a graph: its node, and the graph. */
  readonly ofGraph?: ServedNode;
}

export interface ServedNode {
  readonly graph: CompiledGraph;
  readonly node: CompiledGraphNode;
  /** The stage is what this escalation of the node does. */
  readonly escalation?: CompiledEscalation;
}

/** Finds what a claimed job runs: one look-up per job, by definition key and stage key. */
export class ServedStages {
  /** Gone with the definition: graphs come and go. */
  readonly #byDefinition = new WeakMap<RuntimeDefinition, ReadonlyMap<string, ServedStage>>();

  constructor(private readonly definitions: DefinitionSource) {}

  /** Undefined: this build does not serve the definition, or not that structure of it (GHOST-3). */
  find(definitionKey: string, stageKey: string): ServedStage | undefined {
    const definition = this.definitions.byKey(definitionKey);
    if (!definition) return undefined;
    return (this.#byDefinition.get(definition) ?? this.#read(definition)).get(stageKey);
  }

  /** The same, after one more look at what was loaded since. */
  async findAnew(definitionKey: string, stageKey: string, ownerId: string | null): Promise<ServedStage | undefined> {
    await this.definitions.refresh(definitionKey, ownerId);
    const definition = this.definitions.byKey(definitionKey);
    if (definition) this.#byDefinition.delete(definition);
    return this.find(definitionKey, stageKey);
  }

  #read(definition: RuntimeDefinition): ReadonlyMap<string, ServedStage> {
    const stages = new Map<string, ServedStage>();
    const { compiled } = definition;
    for (const node of compiled.nodes) {
      for (const stage of node.stages) {
        const ofGraph = nodeOf(definition, node.key);
        const type = ofGraph?.node.builtIn ? builtInType(stage.stage) : this.definitions.stageType(stage.stage);
        if (type) stages.set(stage.key, { definition, compiled, node, stage, type, ...(ofGraph && { ofGraph }) });
      }
      for (const [at, stage] of (node.escalations ?? []).entries()) {
        const ofGraph = nodeOf(definition, node.key)!;
        const type = actionType(stage.stage) ?? this.definitions.stageType(stage.stage);
        const escalation = ofGraph.node.escalations[at]!;
        if (type)
          stages.set(stage.key, { definition, compiled, node, stage, type, ofGraph: { ...ofGraph, escalation } });
      }
    }
    this.#byDefinition.set(definition, stages);
    return stages;
  }
}

function nodeOf({ graph }: RuntimeDefinition, key: string): ServedNode | undefined {
  const node = graph?.nodes.find(({ id }) => id === key);
  return graph && node && { graph, node };
}
