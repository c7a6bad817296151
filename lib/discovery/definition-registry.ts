import { Inject, Injectable } from '@nestjs/common';
import {
  DefinitionDriftError,
  ForeignDecoratorError,
  InvalidDefinitionError,
  UndefinedIdError,
  UnknownWorkflowError,
} from '../errors/index.js';
import type { PipelineDefaults } from '../engine/definition/index.js';
import type { ResolvedWorkflowOptions } from '../interfaces/resolved-workflow-options.js';
import { RESOLVED_WORKFLOW_OPTIONS } from '../workflow.constants.js';
import { foreignDecoratorError } from './foreign-decorators.js';
import type { FoundPolicy } from './found-policy.js';
import { HandlerResolver } from './handler-resolver.js';
import { MetadataAccessor } from './metadata-accessor.js';
import type { HostModule } from './provider-wrapper.js';
import { RegistryDraft, stands } from './registry-draft.js';
import type { ServedDefinition, StageType } from './served-definition.js';
import { WorkflowExplorer, type FoundEventHandler } from './workflow-explorer.js';

/** Asked about definitions before they are served; what it throws keeps them from being served. */
export type ServingCheck = (definitions: readonly ServedDefinition[]) => Promise<void>;

/**
 * Holds the stages, definitions, policies and event handlers of this app.
 *
 * Filled by `load()` at boot, and by `refresh()` for modules that are loaded lazily later. Either adds all that the
 * modules bring or, where anything is wrong with it, nothing.
 */
@Injectable()
export class DefinitionRegistry {
  private stageTypes: ReadonlyMap<string, StageType> = new Map();
  private served: ReadonlyMap<string, ServedDefinition> = new Map();
  private versions: ReadonlyMap<string, ReadonlyMap<number, ServedDefinition>> = new Map();
  private found: ReadonlyMap<string, FoundPolicy> = new Map();
  private handlers: readonly FoundEventHandler[] = [];
  private loaded = false;
  /** Modules that need not be looked at again. */
  private readonly seen = new Set<HostModule>();
  private readonly checks: ServingCheck[] = [];
  private scanning: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly explorer: WorkflowExplorer,
    private readonly resolver: HandlerResolver,
    @Inject(RESOLVED_WORKFLOW_OPTIONS) private readonly options: ResolvedWorkflowOptions,
  ) {}

  get stages(): ReadonlyMap<string, StageType> {
    return this.stageTypes;
  }

  /** By id, then by version. */
  get definitions(): ReadonlyMap<string, ReadonlyMap<number, ServedDefinition>> {
    return this.versions;
  }

  /** By ability. */
  get policies(): ReadonlyMap<string, FoundPolicy> {
    return this.found;
  }

  get eventHandlers(): readonly FoundEventHandler[] {
    return this.handlers;
  }

  /** Whatever `check` throws refuses what was found: the boot, or the lazy load (DEF-4). */
  addCheck(check: ServingCheck): void {
    this.checks.push(check);
  }

  /**
   * Looks through all modules. Called again, it looks at those that came since.
   *
   * @throws InvalidDefinitionError with everything that is wrong, by class and module (DEF-3).
   * @throws ForeignDecoratorError when a provider carries another engine's decorator.
   */
  async load(): Promise<void> {
    await this.refresh();
  }

  /**
   * Looks through the modules that came since the last time. Cheap where none did, so that it may be called for every
   * definition nobody knows. True when something was added.
   *
   * @throws as `load`; what was served before goes on being served.
   */
  refresh(): Promise<boolean> {
    // One at a time: a second caller waits for the first one's scan, then finds nothing new.
    const scan = this.scanning.then(() => this.scan());
    this.scanning = scan.catch(() => undefined);
    return scan;
  }

  /**
   * The highest version served of a workflow, by its id or a class of it; or the version asked for.
   *
   * @throws UnknownWorkflowError when this app has none.
   * @throws UndefinedIdError for undefined and null.
   */
  get(workflow: string | Function, version?: number): ServedDefinition {
    const found = this.find(workflow, version);
    if (found) return found;
    throw new UnknownWorkflowError({ workflow: nameOf(workflow), version, known: [...this.versions.keys()] });
  }

  /** As `get`, undefined where there is none. */
  peek(workflow: string | Function, version?: number): ServedDefinition | undefined {
    return this.find(workflow, version);
  }

  /** As `get`, after one look at modules loaded since, where it is not there. */
  async lookup(workflow: string | Function, version?: number): Promise<ServedDefinition> {
    const found = this.find(workflow, version);
    if (found) return found;
    await this.refresh();
    return this.get(workflow, version);
  }

  /** By `id@version#fingerprint`. */
  byKey(key: string): ServedDefinition | undefined {
    return this.served.get(key);
  }

  stageType(id: string): StageType | undefined {
    return this.stageTypes.get(id);
  }

  /** The id of a stage class that stands in this app. */
  stageIdOf(stageClass: unknown): string | undefined {
    if (typeof stageClass !== 'function') return undefined;
    const type = this.stageTypes.get(String(MetadataAccessor.stage(stageClass)?.id));
    return type && stands(type, stageClass) ? type.id : undefined;
  }

  /** The provider that executes a stage, or one made for this execution; `request` is what `REQUEST` injects there. */
  resolve<T extends object>(type: Pick<StageType, 'id'>, request: object): T | Promise<T> {
    const known = this.stageTypes.get(type.id);
    if (!known) throw new Error(`The stage "${type.id}" is not registered here.`);
    return this.resolver.resolve<T>(known.provider, request);
  }

  private find(workflow: string | Function, version: number | undefined): ServedDefinition | undefined {
    if (workflow === undefined || workflow === null) throw new UndefinedIdError({ what: 'workflow' });
    const id = typeof workflow === 'function' ? MetadataAccessor.workflow(workflow)?.id : workflow;
    const versions = this.versions.get(String(id));
    if (version !== undefined) return versions?.get(version);
    return versions && [...versions.values()].reduce((a, b) => (a.compiled.version > b.compiled.version ? a : b));
  }

  private async scan(): Promise<boolean> {
    const modules = this.explorer.builtModules().filter((module) => !this.seen.has(module));
    if (modules.length === 0) return false;
    try {
      const added = await this.add(modules);
      this.loaded = true;
      for (const module of modules) this.seen.add(module);
      return added;
    } catch (error) {
      // A faulty boot fails each time it is tried; a faulty module that came later was refused once, and is then in
      // nobody's way. A check that could not be made (the database is away) is made anew.
      if (this.loaded && isFault(error)) for (const module of modules) this.seen.add(module);
      throw error;
    }
  }

  private async add(modules: readonly HostModule[]): Promise<boolean> {
    const { stages, workflows, policies, eventHandlers, others } = this.explorer.explore(modules);
    const foreign = this.options.foreignDecorators === 'refuse' ? foreignDecoratorError(others) : undefined;
    if (foreign) throw foreign;

    const draft = new RegistryDraft(this.stageTypes, this.served, this.found, this.defaults());
    for (const stage of stages) draft.addStage(stage);
    for (const policy of policies) draft.addPolicy(policy);
    for (const workflow of workflows) {
      await draft.addWorkflow(workflow, (found) => this.resolver.resolve(found, { workflow: found.options.id }));
    }
    if (draft.complaints.any) throw new InvalidDefinitionError({ complaints: draft.complaints.list });

    const added = [...draft.definitions.values()].filter(({ key }) => !this.served.has(key));
    for (const check of this.checks) await check(added);
    return this.take(draft, eventHandlers);
  }

  private take(draft: RegistryDraft, eventHandlers: readonly FoundEventHandler[]): boolean {
    const known = new Set(this.handlers.map(({ type }) => type));
    const handlers = eventHandlers.filter(({ type }) => !known.has(type));
    const grown =
      draft.stages.size > this.stageTypes.size ||
      draft.definitions.size > this.served.size ||
      draft.policies.size > this.found.size ||
      handlers.length > 0;
    const versions = new Map<string, Map<number, ServedDefinition>>();
    for (const definition of draft.definitions.values()) {
      const { id, version } = definition.compiled;
      versions.set(id, (versions.get(id) ?? new Map<number, ServedDefinition>()).set(version, definition));
    }
    this.stageTypes = draft.stages;
    this.found = draft.policies;
    this.served = draft.definitions;
    this.versions = versions;
    this.handlers = [...this.handlers, ...handlers];
    return grown;
  }

  private defaults(): PipelineDefaults {
    const { retry, limits } = this.options;
    const { maxStageRuns, startsPerMinute } = limits;
    return { retry: retry.policy, maxAttemptsCap: retry.maxAttemptsCap, maxStageRuns, startsPerMinute };
  }
}

/** The module itself is wrong, and will be the next time. */
function isFault(error: unknown): boolean {
  return [InvalidDefinitionError, ForeignDecoratorError, DefinitionDriftError].some((fault) => error instanceof fault);
}

function nameOf(workflow: string | Function): string {
  if (typeof workflow === 'string') return workflow;
  const id = MetadataAccessor.workflow(workflow)?.id;
  return typeof id === 'string' ? id : workflow.name;
}
