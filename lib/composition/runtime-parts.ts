import type { ModuleRef, ModulesContainer } from '@nestjs/core';
import type { ClsScope } from '../context/index.js';
import type { DefinitionRegistry, HandlerResolver, LazyModules } from '../discovery/index.js';
import type { ResolvedWorkflowOptions } from '../interfaces/resolved-workflow-options.js';
import type { RuntimeLog } from '../runtime/background/runtime-log.js';
import type { WorkflowOverrides } from './overrides.js';

/** What Nest hands to the engine of an application. */
export interface RuntimeParts {
  readonly options: ResolvedWorkflowOptions;
  readonly overrides: WorkflowOverrides;
  readonly moduleRef: ModuleRef;
  readonly modules: ModulesContainer;
  readonly scope: ClsScope;
  readonly registry: DefinitionRegistry;
  readonly resolver: HandlerResolver;
  readonly lazyModules: LazyModules;
  readonly log: RuntimeLog;
}
