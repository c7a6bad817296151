import { Injectable, Module, type INestApplicationContext, type ModuleMetadata } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { z } from 'zod';
import { Stage, Workflow } from '../../../lib/decorators/index.js';
import { DefinitionRegistry, HandlerResolver, LazyModules, WorkflowExplorer } from '../../../lib/discovery/index.js';
import type { Flow, StageContext, WorkflowModuleOptions } from '../../../lib/interfaces/index.js';
import { RESOLVED_WORKFLOW_OPTIONS } from '../../../lib/workflow.constants.js';
import { resolveOptions } from '../../../lib/workflow.module-definition.js';

export const text = { input: z.any(), output: z.any() };
export type Text = StageContext<typeof text>;

@Injectable()
export class Greeting {
  readonly word: string = 'hello';
}

@Stage({
  id: 'greet',
  ...text,
  retry: { maxAttempts: 4 },
  timeout: '5s',
  queue: 'fast',
  ability: 'greet',
  sideEffect: false,
})
export class Greet {
  constructor(readonly greeting: Greeting) {}

  execute(_ctx: Text): unknown {
    return this.greeting.word;
  }

  cancel(_ctx: Text): void {}
}

export const input = z.object({ name: z.string() });

@Workflow({ id: 'welcome', version: 1, input })
export class Welcome {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Greet);
  }
}

export interface RegistryApp {
  readonly registry: DefinitionRegistry;
  readonly context: INestApplicationContext;
}

/** An app with a registry and nothing else of the engine; not loaded yet. */
export async function registryApp(
  host: ModuleMetadata,
  options: WorkflowModuleOptions = {},
  change: (builder: TestingModuleBuilder) => TestingModuleBuilder = (builder) => builder,
): Promise<RegistryApp> {
  @Module({
    imports: [DiscoveryModule],
    providers: [
      WorkflowExplorer,
      HandlerResolver,
      DefinitionRegistry,
      LazyModules,
      { provide: RESOLVED_WORKFLOW_OPTIONS, useValue: resolveOptions(options) },
    ],
  })
  class RegistryModule {}

  @Module(host)
  class HostModule {}

  const context = await change(Test.createTestingModule({ imports: [RegistryModule, HostModule] })).compile();
  await context.init();
  return { registry: context.get(DefinitionRegistry, { strict: false }), context };
}

export async function loadedRegistry(...given: Parameters<typeof registryApp>): Promise<DefinitionRegistry> {
  const { registry } = await registryApp(...given);
  await registry.load();
  return registry;
}
