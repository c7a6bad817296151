import type { OnboardingView } from '../app/onboarding-view.js';
import type { Customer, Decision, Profile } from '../customers/customer.js';

/** What comes over the wire of a value: instants are texts there. */
export type Wire<T> = T extends Date ? string : T extends object ? { [K in keyof T]: Wire<T[K]> } : T;

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

export interface SentMail {
  readonly key: string;
  readonly recipient: string;
  readonly subject: string;
  readonly handedOver: number;
}

export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** Talks to the app over HTTP, as a front end would. */
export class OnboardingClient {
  constructor(private readonly url: string) {}

  start(customer: Customer): Promise<Answer<{ id: string; created: boolean }>> {
    return this.call('POST', '/onboardings', customer);
  }

  async view(id: string): Promise<Wire<OnboardingView>> {
    return (await this.call<Wire<OnboardingView>>('GET', `/onboardings/${id}`)).body;
  }

  completeProfile(id: string, body: Profile & { messageId?: string }): Promise<Answer<{ duplicate: boolean }>> {
    return this.call('POST', `/onboardings/${id}/profile`, body);
  }

  decide(id: string, body: Decision & { messageId?: string }): Promise<Answer<{ status: string }>> {
    return this.call('POST', `/onboardings/${id}/sign-off`, body);
  }

  cancel(id: string, reason: string): Promise<Answer<Wire<OnboardingView>>> {
    return this.call('POST', `/onboardings/${id}/cancel`, { reason });
  }

  async mails(): Promise<SentMail[]> {
    return (await this.call<SentMail[]>('GET', '/mails')).body;
  }

  /** The answer, whatever its status: refusals have bodies too. */
  async call<T>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    return { status: response.status, body: (await response.json()) as T };
  }
}
