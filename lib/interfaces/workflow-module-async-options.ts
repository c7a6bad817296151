import type { InjectionToken, ModuleMetadata, OptionalFactoryDependency, Provider, Type } from '@nestjs/common';
import type { WorkflowModuleOptions } from './workflow-module-options.js';

/** A provider that makes the options: `useClass` builds one, `useExisting` takes one that is there. */
export interface WorkflowOptionsFactory {
  createWorkflowOptions(): Promise<WorkflowModuleOptions> | WorkflowModuleOptions;
}

/**
 * What `WorkflowModule.forRootAsync` takes: exactly one of `useFactory`, `useClass`, `useExisting`.
 *
 * @publicApi
 */
export interface WorkflowModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  useFactory?: (...args: any[]) => Promise<WorkflowModuleOptions> | WorkflowModuleOptions;
  /** What `useFactory` is given. */
  inject?: (InjectionToken | OptionalFactoryDependency)[];
  useClass?: Type<WorkflowOptionsFactory>;
  useExisting?: InjectionToken<WorkflowOptionsFactory>;
  /** Providers that the factory needs beside those of `imports`. */
  extraProviders?: Provider[];
  /** Stands here because Nest needs it before the factory runs. @default true */
  isGlobal?: boolean;
}
