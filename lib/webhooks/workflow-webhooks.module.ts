import { Module, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { WORKFLOW_RUNTIME, type WorkflowRuntime } from '../composition/workflow-runtime.js';
import type { WebhookReceiver, WebhookSettings } from '../services/webhooks/webhook-receiver.js';
import { WEBHOOK_RECEIVER, webhooksController, type WebhookRoute } from './workflow-webhooks.controller.js';
import {
  WebhookOptionsReader,
  type WorkflowWebhooksAsyncOptions,
  type WorkflowWebhooksOptions,
} from './workflow-webhooks.options.js';

type Receiver = Pick<WebhookReceiver, 'receive'>;

/**
 * The controller that callers of webhooks start graphs by. Import it beside `WorkflowModule`, once; create the app with
 * `{ rawBody: true }`, since signatures are of the bytes that came.
 *
 * @publicApi
 * @example WorkflowWebhooksModule.forRoot({ secrets: ({ hook }) => vault.read(`hooks/${hook}`) })
 */
@Module({})
export class WorkflowWebhooksModule {
  /** @throws InvalidOptionsError naming every option that is wrong */
  static forRoot(options: WorkflowWebhooksOptions): DynamicModule {
    const reader = new WebhookOptionsReader('WorkflowWebhooksModule.forRoot');
    const given = options ?? {};
    const access = reader.access(given);
    const route = reader.route(given);
    reader.end();
    return dynamicModule(route, {
      provide: WEBHOOK_RECEIVER,
      useFactory: (moduleRef: ModuleRef) => receiverOf(moduleRef, access),
      inject: [ModuleRef],
    });
  }

  /**
   * The same with secrets of a provider's. What the factory gives is checked while the app is created.
   *
   * @example
   * WorkflowWebhooksModule.forRootAsync({
   *   imports: [VaultModule],
   *   inject: [Vault],
   *   useFactory: (vault: Vault) => ({ secrets: ({ hook }) => vault.read(`hooks/${hook}`) }),
   * })
   *
   * @throws InvalidOptionsError naming every option that is wrong
   */
  static forRootAsync(options: WorkflowWebhooksAsyncOptions): DynamicModule {
    const where = 'WorkflowWebhooksModule.forRootAsync';
    const reader = new WebhookOptionsReader(where);
    const { useFactory, inject = [], imports = [], ...beside } = options ?? {};
    reader.check(typeof useFactory === 'function', 'useFactory', 'give it a function that returns { secrets }');
    const route = reader.route(beside);
    reader.end();
    const provider: FactoryProvider<Receiver> = {
      provide: WEBHOOK_RECEIVER,
      useFactory: async (moduleRef: ModuleRef, ...injected: unknown[]) => {
        const made: Partial<WorkflowWebhooksOptions> = (await useFactory(...injected)) ?? {};
        const read = new WebhookOptionsReader(where);
        const access = read.access(made);
        read.noRoute(made);
        read.end();
        return receiverOf(moduleRef, access);
      },
      inject: [ModuleRef, ...inject],
    };
    return { ...dynamicModule(route, provider), imports };
  }
}

function dynamicModule(route: WebhookRoute, receiver: FactoryProvider<Receiver>): DynamicModule {
  return { module: WorkflowWebhooksModule, controllers: [webhooksController(route)], providers: [receiver] };
}

/** Of the engine of the app, wherever its module is imported; looked for when it is called first. */
function receiverOf(moduleRef: ModuleRef, settings: WebhookSettings): Receiver {
  let receiver: WebhookReceiver | undefined;
  return {
    receive: (call) => {
      receiver ??= moduleRef.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false }).webhooks(settings);
      return receiver.receive(call);
    },
  };
}
