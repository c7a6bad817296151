import {
  Inject,
  Logger,
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type ModuleMetadata,
  type OnApplicationBootstrap,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { DiscoveryModule, ModuleRef, ModulesContainer } from '@nestjs/core';
import { PolicyStageAuthorizer, WorkflowGuard } from './authorization/index.js';
import { WORKFLOW_OVERRIDES, type WorkflowOverrides } from './composition/overrides.js';
import { runtimeOf } from './composition/runtimes.js';
import { WORKFLOW_RUNTIME, WorkflowRuntime } from './composition/workflow-runtime.js';
import { ClsScope, ContextModule } from './context/index.js';
import { DefinitionRegistry, HandlerResolver, LazyModules, WorkflowExplorer } from './discovery/index.js';
import type { ResolvedWorkflowOptions } from './interfaces/resolved-workflow-options.js';
import type { WorkflowModuleAsyncOptions, WorkflowModuleOptions } from './interfaces/index.js';
import { AnnotationsService } from './services/annotations.service.js';
import { ApprovalsService } from './services/approvals.service.js';
import { AuditService } from './services/audit.service.js';
import { DefinitionsService } from './services/definitions.service.js';
import { WakeService } from './services/wake.service.js';
import { WorkflowHost } from './services/workflow-host.js';
import { WorkflowService } from './services/workflow.service.js';
import { RESOLVED_WORKFLOW_OPTIONS, WORKFLOW_MODULE_OPTIONS, WORKFLOW_ROUTE_ACCESS } from './workflow.constants.js';
import { createOptionsProviders, resolveOptions } from './workflow.module-definition.js';

/**
 * The workflow engine in a Nest app. Import it once, in the root module; a second import with the same options is the
 * same engine, one with other options is refused.
 *
 * Stages, workflows and event handlers are found among the providers of all modules. Nothing is claimed before
 * `onApplicationBootstrap`, and `beforeApplicationShutdown` waits for what runs (`shutdownGrace`): call
 * `app.enableShutdownHooks()`.
 *
 * @publicApi
 */
@Module({})
export class WorkflowModule implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(@Inject(WORKFLOW_RUNTIME) private readonly runtime: WorkflowRuntime) {}

  /**
   * @throws InvalidOptionsError while the app is created, naming every option that is wrong; DataSourceNotFoundError,
   * MigrationsBehindError, InvalidDefinitionError, DefinitionDriftError while it is initialised
   */
  static forRoot(options: WorkflowModuleOptions = {}): DynamicModule {
    return dynamicModule(options?.isGlobal, [
      { provide: WORKFLOW_MODULE_OPTIONS, useValue: options },
      { provide: RESOLVED_WORKFLOW_OPTIONS, useFactory: resolveOptions, inject: [WORKFLOW_MODULE_OPTIONS] },
    ]);
  }

  /** The same with options that are made by a provider: `useFactory`, `useClass` or `useExisting`. */
  static forRootAsync(options: WorkflowModuleAsyncOptions): DynamicModule {
    return dynamicModule(options.isGlobal, createOptionsProviders(options), options.imports);
  }

  async onModuleInit(): Promise<void> {
    await this.runtime.prepare();
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.runtime.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.runtime.stop();
  }
}

function dynamicModule(
  isGlobal = true,
  optionsProviders: Provider[],
  imports: ModuleMetadata['imports'] = [],
): DynamicModule {
  return {
    module: WorkflowModule,
    global: isGlobal,
    imports: [...imports, ContextModule, DiscoveryModule],
    providers: [
      ...optionsProviders,
      { provide: WORKFLOW_OVERRIDES, useValue: {} satisfies WorkflowOverrides },
      WorkflowExplorer,
      HandlerResolver,
      DefinitionRegistry,
      LazyModules,
      RUNTIME_PROVIDER,
      {
        provide: WorkflowService,
        useFactory: (runtime: WorkflowRuntime) => runtime.workflows,
        inject: [WORKFLOW_RUNTIME],
      },
      {
        provide: AnnotationsService,
        useFactory: (runtime: WorkflowRuntime) => runtime.annotations,
        inject: [WORKFLOW_RUNTIME],
      },
      {
        provide: ApprovalsService,
        useFactory: (runtime: WorkflowRuntime) => runtime.approvals,
        inject: [WORKFLOW_RUNTIME],
      },
      { provide: AuditService, useFactory: (runtime: WorkflowRuntime) => runtime.audit, inject: [WORKFLOW_RUNTIME] },
      {
        provide: DefinitionsService,
        useFactory: (runtime: WorkflowRuntime) => runtime.definitions,
        inject: [WORKFLOW_RUNTIME],
      },
      {
        provide: WORKFLOW_ROUTE_ACCESS,
        useFactory: (runtime: WorkflowRuntime) => runtime.routes,
        inject: [WORKFLOW_RUNTIME],
      },
      WorkflowGuard,
      { provide: WakeService, useFactory: (runtime: WorkflowRuntime) => runtime.wake, inject: [WORKFLOW_RUNTIME] },
      {
        provide: PolicyStageAuthorizer,
        useFactory: (runtime: WorkflowRuntime) => runtime.policies,
        inject: [WORKFLOW_RUNTIME],
      },
      { provide: WorkflowHost, useFactory: (runtime: WorkflowRuntime) => runtime.host, inject: [WORKFLOW_RUNTIME] },
    ],
    exports: [
      WorkflowService,
      AnnotationsService,
      AuditService,
      ApprovalsService,
      DefinitionsService,
      WakeService,
      WorkflowHost,
      PolicyStageAuthorizer,
      WorkflowGuard,
      WORKFLOW_ROUTE_ACCESS,
      ContextModule,
    ],
  };
}

const RUNTIME_PROVIDER: Provider = {
  provide: WORKFLOW_RUNTIME,
  inject: [
    ModulesContainer,
    ModuleRef,
    ClsScope,
    DefinitionRegistry,
    HandlerResolver,
    LazyModules,
    RESOLVED_WORKFLOW_OPTIONS,
    WORKFLOW_OVERRIDES,
  ],
  useFactory: (
    modules: ModulesContainer,
    moduleRef: ModuleRef,
    scope: ClsScope,
    registry: DefinitionRegistry,
    resolver: HandlerResolver,
    lazyModules: LazyModules,
    options: ResolvedWorkflowOptions,
    overrides: WorkflowOverrides,
  ): WorkflowRuntime => {
    const log = new Logger('WorkflowEngine');
    const parts = { modules, moduleRef, scope, registry, resolver, lazyModules, options, overrides, log };
    return runtimeOf(modules, options, () => new WorkflowRuntime(parts));
  },
};
