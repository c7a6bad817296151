import { Complaints, compilePipeline, compileStage, definitionKey, readSchema } from '../engine/definition/index.js';
import type { CompiledPipeline, PipelineDefaults, PipelineSettings, StageLookup } from '../engine/definition/index.js';
import { InvalidDefinitionError } from '../errors/index.js';
import { addPolicy, type FoundPolicy } from './found-policy.js';
import { MetadataAccessor } from './metadata-accessor.js';
import { NameClaims } from './name-claims.js';
import { classesOf, hasMethod } from './provider-wrapper.js';
import type { ServedDefinition, StageType } from './served-definition.js';
import type { FoundClass } from './workflow-explorer.js';

/** Gives the instance whose `define` is called. */
export type ResolveBlueprint = (found: FoundClass) => Promise<object> | object;

const WORKFLOW_OPTIONS = ['id', 'version', 'input', 'retry', 'limits', 'actor', 'deadline', 'queue', 'scope'];

/**
 * What is to be added to a registry: gathers every complaint, and is thrown away when there is one, so that a faulty
 * module changes nothing.
 */
export class RegistryDraft {
  readonly stages: Map<string, StageType>;
  readonly definitions: Map<string, ServedDefinition>;
  /** By ability. */
  readonly policies: Map<string, FoundPolicy>;
  readonly complaints = new Complaints();
  /** Stage classes already complained about: pipelines that hold them need not complain again. */
  private readonly faulty = new Set<Function>();

  private readonly stageNames = new NameClaims();
  private readonly workflowNames = new NameClaims();

  constructor(
    stages: ReadonlyMap<string, StageType>,
    definitions: ReadonlyMap<string, ServedDefinition>,
    policies: ReadonlyMap<string, FoundPolicy>,
    private readonly defaults: PipelineDefaults,
  ) {
    this.stages = new Map(stages);
    this.definitions = new Map(definitions);
    this.policies = new Map(policies);
    for (const { id, stageClass, provider } of stages.values()) {
      this.stageNames.add({ id, version: 0, type: stageClass, place: provider.place });
    }
    for (const { compiled, workflowClass, place } of definitions.values()) {
      this.workflowNames.add({ id: compiled.id, version: compiled.version, type: workflowClass, place });
    }
  }

  addStage(found: FoundClass): void {
    const { place, options, type } = found;
    const source = {
      place,
      options,
      hasExecute: hasMethod(found, 'execute'),
      hasCancelHook: hasMethod(found, 'cancel'),
      hasCompletionCheck: hasMethod(found, 'checkCompletion'),
    };
    const compiled = compileStage(source, this.complaints);
    const id = String(options.id);
    const rival = this.stageNames.add({ id, version: 0, type, place });
    if (rival) {
      this.complaints.add(place, `the stage id "${id}" is also that of ${rival}.`, 'Give one of them another id.');
    }
    if (!compiled || rival) this.faulty.add(type);
    else if (!this.stages.has(id))
      this.stages.set(id, Object.freeze({ ...compiled, stageClass: type, provider: found }));
  }

  addPolicy(found: FoundClass): void {
    addPolicy(found, this.policies, this.complaints);
  }

  async addWorkflow(found: FoundClass, resolve: ResolveBlueprint): Promise<void> {
    const { place, options, type: workflowClass } = found;
    const complaints = new Complaints();
    for (const name of Object.keys(options).filter((key) => !WORKFLOW_OPTIONS.includes(key))) {
      complaints.add(place, `@Workflow has no option "${name}".`, `There are: ${WORKFLOW_OPTIONS.join(', ')}.`);
    }
    const inputSchema = readSchema(options.input, 'input', place, complaints);
    if (options.input === undefined)
      complaints.add(place, '@Workflow has no input schema.', 'Give it `input: z.object({ … })`.');
    const pipeline = hasMethod(found, 'define') ? await this.compile(found, resolve, complaints) : undefined;
    if (!hasMethod(found, 'define'))
      complaints.add(place, 'it has no method define(flow).', 'Implement WorkflowBlueprint.');
    const claim = { id: String(options.id), version: Number(options.version), type: workflowClass, place };
    const rival = this.workflowNames.add(claim);
    if (rival) {
      const problem = `workflow "${claim.id}" version ${claim.version} is also ${rival}.`;
      complaints.add(place, problem, 'Give one of them another id, or another version.');
    }
    this.complaints.list.push(...complaints.list);
    if (!pipeline || !inputSchema || complaints.any) return;

    const { definition: compiled, structure } = pipeline;
    const key = definitionKey(compiled);
    if (this.definitions.has(key)) return;
    this.definitions.set(key, Object.freeze({ key, compiled, structure, inputSchema, workflowClass, place }));
  }

  private async compile(
    found: FoundClass,
    resolve: ResolveBlueprint,
    complaints: Complaints,
  ): Promise<CompiledPipeline | undefined> {
    const { place, options } = found;
    try {
      const blueprint = (await resolve(found)) as { define(flow: unknown): unknown };
      const define = (flow: unknown): unknown => blueprint.define(flow);
      const source = { place, id: options.id, version: options.version, define, settings: options as PipelineSettings };
      return await compilePipeline(source, this.lookup, this.defaults);
    } catch (error) {
      if (error instanceof InvalidDefinitionError) complaints.list.push(...error.complaints);
      else complaints.addThrown(place, 'it could not be built', error);
      return undefined;
    }
  }

  private readonly lookup: StageLookup = (stageClass) => {
    if (typeof stageClass !== 'function') return undefined;
    if (this.faulty.has(stageClass)) return 'faulty';
    const type = this.stages.get(String(MetadataAccessor.stage(stageClass)?.id));
    return type && stands(type, stageClass) ? type : undefined;
  };
}

/** Whether the provider of a stage is the class that a pipeline names, a subclass of it, or stands under its token. */
export function stands({ stageClass, provider }: StageType, named: Function): boolean {
  if (stageClass === named || provider.token === named) return true;
  return [stageClass, ...classesOf(provider.wrapper)].some((type) => type.prototype instanceof named);
}
