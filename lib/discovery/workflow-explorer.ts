import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { WorkflowEventType } from '../interfaces/workflow-event.js';
import { MetadataAccessor, type DecoratorOptions } from './metadata-accessor.js';
import { classesOf, isEmpty, type FoundProvider, type HostModule, type ProviderWrapper } from './provider-wrapper.js';

export interface FoundClass extends FoundProvider {
  readonly options: DecoratorOptions;
}

/** A method with `@OnWorkflowEvent`. */
export interface FoundEventHandler extends FoundProvider {
  readonly method: string;
  readonly types: readonly WorkflowEventType[];
}

/** What stands in some modules, each class once. */
export interface Explored {
  readonly stages: readonly FoundClass[];
  readonly workflows: readonly FoundClass[];
  readonly policies: readonly FoundClass[];
  readonly eventHandlers: readonly FoundEventHandler[];
  /** Every provider without a decorator of ours. */
  readonly others: readonly FoundProvider[];
}

/**
 * Finds the stages, workflows, policies and event handlers among the providers of modules: by class, factory or value, inherited,
 * request-scoped, replaced in a test. A class provided in several modules, or under several tokens, counts once
 * (FAULT H1). Finds only; it starts and constructs nothing.
 */
@Injectable()
export class WorkflowExplorer {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly modules: ModulesContainer,
  ) {}

  /** The modules that are built, lazily loaded ones included. */
  builtModules(): HostModule[] {
    // A module that is being loaded lazily stands in the container before its providers exist. (Nest 11 does not tell.)
    return [...this.modules.values()].filter(
      (module) => (module as { isInstantiated?: boolean }).isInstantiated !== false,
    );
  }

  explore(modules: readonly HostModule[]): Explored {
    const wrappers = this.discovery.getProviders({}, [...modules]).filter((wrapper) => !isEmpty(wrapper));
    // An alias (`useExisting`) names a provider that stands elsewhere itself: it only counts where that one is not seen.
    const ordered = [
      ...wrappers.filter((wrapper) => !wrapper.isAlias),
      ...wrappers.filter((wrapper) => wrapper.isAlias),
    ];
    const stages = new Map<Function, FoundClass>();
    const workflows = new Map<Function, FoundClass>();
    const policies = new Map<Function, FoundClass>();
    const others: FoundProvider[] = [];
    for (const wrapper of ordered) {
      const isStage = this.collect(wrapper, MetadataAccessor.stage, stages);
      const isWorkflow = this.collect(wrapper, MetadataAccessor.workflow, workflows);
      const isPolicy = this.collect(wrapper, MetadataAccessor.policy, policies);
      const type = classesOf(wrapper)[0];
      if (!isStage && !isWorkflow && !isPolicy && type) others.push(found(wrapper, type));
    }
    const controllers = this.discovery.getControllers({}, [...modules]);
    const eventHandlers = this.eventHandlers([...ordered, ...controllers]);
    return {
      stages: [...stages.values()],
      workflows: [...workflows.values()],
      policies: [...policies.values()],
      eventHandlers,
      others,
    };
  }

  private collect(
    wrapper: ProviderWrapper,
    read: (type: Function) => DecoratorOptions | undefined,
    into: Map<Function, FoundClass>,
  ): boolean {
    const type = classesOf(wrapper).find((candidate) => read(candidate) !== undefined);
    if (type === undefined) return false;
    if (!into.has(type)) into.set(type, { ...found(wrapper, type), options: read(type)! });
    return true;
  }

  private eventHandlers(wrappers: readonly ProviderWrapper[]): FoundEventHandler[] {
    const seen = new Set<Function>();
    const handlers: FoundEventHandler[] = [];
    for (const wrapper of wrappers) {
      const type = classesOf(wrapper)[0];
      const prototype = type?.prototype as Record<string, unknown> | undefined;
      if (!type || !prototype || seen.has(type)) continue;
      seen.add(type);
      for (const method of this.scanner.getAllMethodNames(prototype)) {
        const types = MetadataAccessor.eventTypes(prototype[method] as Function);
        if (types) handlers.push({ ...found(wrapper, type), method, types });
      }
    }
    return handlers;
  }
}

function found(wrapper: ProviderWrapper, type: Function): FoundProvider {
  const name = type.name || 'a class without a name';
  return { type, token: wrapper.token, wrapper, place: `${name} (${wrapper.host?.name ?? 'no module'})` };
}
