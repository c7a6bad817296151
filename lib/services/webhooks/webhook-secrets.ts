/** What is asked for the secrets of a webhook. */
export interface WebhookHook {
  /** Its public address. */
  readonly hook: string;
  /** Id of the trigger in its graph. */
  readonly trigger: string;
  /** Id of the definition that it starts. */
  readonly definition: string;
  /** Whose graph it is; null: all owners share it. */
  readonly owner: string | null;
}

/** One secret, or several while one replaces another; none: nothing is let in. */
export type WebhookSecrets = string | readonly string[] | null | undefined;

/** @publicApi */
export type WebhookSecretsOf = (hook: WebhookHook) => WebhookSecrets | Promise<WebhookSecrets>;

export function secretsIn(given: WebhookSecrets): string[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return list.filter((secret): secret is string => typeof secret === 'string' && secret !== '');
}
