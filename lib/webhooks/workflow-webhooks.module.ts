import { Module, type DynamicModule } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { WORKFLOW_RUNTIME, type WorkflowRuntime } from '../composition/workflow-runtime.js';
import { parseDurationMs, type Duration } from '../engine/time/index.js';
import { InvalidOptionsError, WorkflowError, type OptionProblem } from '../errors/index.js';
import type { WebhookReceiver, WebhookSettings } from '../services/webhooks/webhook-receiver.js';
import type { WebhookSecretsOf } from '../services/webhooks/webhook-secrets.js';
import { WEBHOOK_RECEIVER, webhooksController } from './workflow-webhooks.controller.js';

/** @publicApi */
export interface WorkflowWebhooksOptions {
  /**
   * The secrets of a webhook: one, or several while one replaces another. Standard Webhooks' (`whsec_` and Base64) where its trigger
   * says `signature`, tokens where it says `token`. Without one nobody is let in.
   */
  readonly secrets: WebhookSecretsOf;
  /** Where the webhooks lie: `POST /<path>/<hook>`. @default 'workflow-hooks' */
  readonly path?: string;
  /** How old, or how far ahead, a signed message may be. From 1 s to 1 h. @default '5 min' */
  readonly tolerance?: Duration;
  /** Largest body, in bytes; no larger than what the app's body parsers take. @default 262144 (256 KiB) */
  readonly maxBytes?: number;
  /** Put on the controller: what lets its calls past global guards of the app, for one. @default none */
  readonly decorators?: readonly ClassDecorator[];
}

const HOUR_MS = 3_600_000;
const MAX_BYTES = 16 * 1024 * 1024;

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
    const { secrets, path, toleranceMs, maxBytes, decorators } = readOptions(options);
    return {
      module: WorkflowWebhooksModule,
      controllers: [webhooksController({ path, maxBytes, decorators })],
      providers: [
        {
          provide: WEBHOOK_RECEIVER,
          useFactory: (moduleRef: ModuleRef) => receiverOf(moduleRef, { secrets, toleranceMs }),
          inject: [ModuleRef],
        },
      ],
    };
  }
}

/** Of the engine of the app, wherever its module is imported; looked for when it is called first. */
function receiverOf(moduleRef: ModuleRef, settings: WebhookSettings): Pick<WebhookReceiver, 'receive'> {
  let receiver: WebhookReceiver | undefined;
  return {
    receive: (call) => {
      receiver ??= moduleRef.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false }).webhooks(settings);
      return receiver.receive(call);
    },
  };
}

function readOptions(options: WorkflowWebhooksOptions) {
  const {
    secrets,
    path = 'workflow-hooks',
    tolerance = '5 min',
    maxBytes = 256 * 1024,
    decorators = [],
  } = options ?? {};
  const problems: OptionProblem[] = [];
  const check = (holds: boolean, name: string, message: string): void => {
    if (!holds) problems.push({ path: name, message });
  };
  check(typeof secrets === 'function', 'secrets', 'give it a function that returns the secrets of a webhook');
  check(typeof path === 'string' && /^[\w./-]+$/.test(path), 'path', 'must be a path: letters, digits, _ . / -');
  check(
    Number.isInteger(maxBytes) && maxBytes >= 1 && maxBytes <= MAX_BYTES,
    'maxBytes',
    `must be from 1 to ${MAX_BYTES}`,
  );
  check(
    Array.isArray(decorators) && decorators.every((each) => typeof each === 'function'),
    'decorators',
    'must be class decorators',
  );
  let toleranceMs = 0;
  try {
    toleranceMs = parseDurationMs(tolerance, 'tolerance');
    check(toleranceMs >= 1_000 && toleranceMs <= HOUR_MS, 'tolerance', 'must be from 1 s to 1 h');
  } catch (error) {
    if (!WorkflowError.is(error)) throw error;
    check(false, 'tolerance', error.message);
  }
  if (problems.length > 0) throw new InvalidOptionsError({ where: 'WorkflowWebhooksModule.forRoot', problems });
  return { secrets, path, toleranceMs, maxBytes, decorators };
}
