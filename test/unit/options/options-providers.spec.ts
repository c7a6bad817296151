import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { InvalidOptionsError } from '../../../lib/errors/index.js';
import type { ResolvedWorkflowOptions } from '../../../lib/interfaces/resolved-workflow-options.js';
import type {
  WorkflowModuleAsyncOptions,
  WorkflowModuleOptions,
  WorkflowOptionsFactory,
} from '../../../lib/interfaces/index.js';
import { RESOLVED_WORKFLOW_OPTIONS } from '../../../lib/workflow.constants.js';
import { createOptionsProviders } from '../../../lib/workflow.module-definition.js';

@Injectable()
class Settings {
  readonly concurrency = 3;
}

@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

@Injectable()
class OptionsFactory implements WorkflowOptionsFactory {
  constructor(private readonly settings: Settings) {}

  async createWorkflowOptions(): Promise<WorkflowModuleOptions> {
    return { worker: { concurrency: this.settings.concurrency } };
  }
}

@Module({ imports: [SettingsModule], providers: [OptionsFactory], exports: [OptionsFactory] })
class FactoryModule {}

async function resolve(async: WorkflowModuleAsyncOptions): Promise<ResolvedWorkflowOptions> {
  const host = { module: class Host {}, imports: async.imports ?? [], providers: createOptionsProviders(async) };
  const module = await Test.createTestingModule({ imports: [host] }).compile();
  return module.get<ResolvedWorkflowOptions>(RESOLVED_WORKFLOW_OPTIONS, { strict: false });
}

describe('createOptionsProviders', () => {
  it.each<[string, WorkflowModuleAsyncOptions]>([
    [
      'useFactory with inject',
      {
        imports: [SettingsModule],
        inject: [Settings],
        useFactory: async (settings: Settings) => ({ worker: { concurrency: settings.concurrency } }),
      },
    ],
    [
      'useFactory with an optional dependency that is not there',
      {
        inject: [{ token: 'none', optional: true }],
        useFactory: (none: unknown) => ({ worker: { concurrency: none ? 1 : 3 } }),
      },
    ],
    ['useClass', { imports: [SettingsModule], useClass: OptionsFactory }],
    ['useExisting', { imports: [FactoryModule], useExisting: OptionsFactory }],
    [
      'extraProviders',
      { extraProviders: [Settings], inject: [Settings], useFactory: (settings: Settings) => ({ worker: settings }) },
    ],
  ])('MOD-1 FAULT H16: %s', async (_, async) => {
    expect((await resolve(async)).worker?.concurrency).toBe(3);
  });

  it.each<[string, WorkflowModuleAsyncOptions]>([
    ['none of them', {}],
    ['two of them', { useClass: OptionsFactory, useFactory: () => ({}) }],
  ])('MOD-1 FAULT H16: %s is refused', (_, async) => {
    expect(() => createOptionsProviders(async)).toThrow(InvalidOptionsError);
  });

  it.each<[string, () => WorkflowModuleOptions, string]>([
    ['wrong options', () => ({ worker: { concurrency: 0 } }), 'worker.concurrency'],
    ['nothing', () => undefined as never, 'did the factory return nothing'],
    ['isGlobal, too late', () => ({ isGlobal: false }), 'isGlobal'],
  ])('MOD-1: a factory that returns %s stops the boot', async (_, useFactory, message) => {
    await expect(resolve({ useFactory })).rejects.toThrow(message);
  });
});
