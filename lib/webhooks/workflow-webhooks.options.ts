import type { InjectionToken, ModuleMetadata, OptionalFactoryDependency } from '@nestjs/common';
import { parseDurationMs, type Duration } from '../engine/time/index.js';
import { InvalidOptionsError, WorkflowError, type OptionProblem } from '../errors/index.js';
import type { WebhookSettings } from '../services/webhooks/webhook-receiver.js';
import type { WebhookSecretsOf } from '../services/webhooks/webhook-secrets.js';
import type { WebhookRoute } from './workflow-webhooks.controller.js';

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

/** Who is let in. */
type WebhookAccessOptions = Pick<WorkflowWebhooksOptions, 'secrets' | 'tolerance'>;

/** Where the webhooks lie, and what they take. */
type WebhookRouteOptions = Pick<WorkflowWebhooksOptions, 'path' | 'maxBytes' | 'decorators'>;

/**
 * What `WorkflowWebhooksModule.forRootAsync` takes. The route stands beside the factory, since Nest has to know it before the factory
 * runs.
 *
 * @publicApi
 */
export interface WorkflowWebhooksAsyncOptions extends WebhookRouteOptions, Pick<ModuleMetadata, 'imports'> {
  /** Gives `secrets` and `tolerance`, with what it is injected. */
  readonly useFactory: (...args: any[]) => WebhookAccessOptions | Promise<WebhookAccessOptions>;
  /** What `useFactory` is given. */
  readonly inject?: (InjectionToken | OptionalFactoryDependency)[];
}

const HOUR_MS = 3_600_000;
const MAX_BYTES = 16 * 1024 * 1024;
const ROUTE = ['path', 'maxBytes', 'decorators'] as const;

/** Reads options, and gathers what is wrong with them. */
export class WebhookOptionsReader {
  readonly #problems: OptionProblem[] = [];

  constructor(private readonly where: string) {}

  /** @throws InvalidOptionsError naming every option that was wrong */
  end(): void {
    if (this.#problems.length > 0) throw new InvalidOptionsError({ where: this.where, problems: this.#problems });
  }

  access({ secrets, tolerance = '5 min' }: Partial<WebhookAccessOptions>): WebhookSettings {
    this.check(typeof secrets === 'function', 'secrets', 'give it a function that returns the secrets of a webhook');
    return { secrets: secrets as WebhookSecretsOf, toleranceMs: this.#tolerance(tolerance) };
  }

  route({ path = 'workflow-hooks', maxBytes = 256 * 1024, decorators = [] }: WebhookRouteOptions): WebhookRoute {
    const isPath = typeof path === 'string' && /^[\w./-]+$/.test(path);
    this.check(isPath, 'path', 'must be a path: letters, digits, _ . / -');
    const isSize = Number.isInteger(maxBytes) && maxBytes >= 1 && maxBytes <= MAX_BYTES;
    this.check(isSize, 'maxBytes', `must be from 1 to ${MAX_BYTES}`);
    const areDecorators = Array.isArray(decorators) && decorators.every((each) => typeof each === 'function');
    this.check(areDecorators, 'decorators', 'must be class decorators');
    return { path, maxBytes, decorators };
  }

  /** A factory comes too late for the route: silence would leave the webhooks at another place than was said. */
  noRoute(made: WebhookRouteOptions = {}): void {
    for (const name of ROUTE)
      this.check(made[name] === undefined, name, 'stands beside useFactory, which runs too late for it');
  }

  check(holds: boolean, path: string, message: string): void {
    if (!holds) this.#problems.push({ path, message });
  }

  #tolerance(given: Duration): number {
    try {
      const toleranceMs = parseDurationMs(given, 'tolerance');
      this.check(toleranceMs >= 1_000 && toleranceMs <= HOUR_MS, 'tolerance', 'must be from 1 s to 1 h');
      return toleranceMs;
    } catch (error) {
      if (!WorkflowError.is(error)) throw error;
      this.check(false, 'tolerance', error.message);
      return 0;
    }
  }
}
