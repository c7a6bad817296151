import type { OnboardingView } from '../app/onboarding-view.js';
import type { Customer, Decision, Profile } from '../customers/customer.js';
import { type Answer, OnboardingClient, type Refusal, type SentMail, type Wire } from './onboarding-client.js';
import { type Moment, momentsOf } from './timeline.js';
import type { TravellingApp } from './travelling-app.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How one customer fared. */
export interface Fate {
  readonly view: Wire<OnboardingView>;
  /** The mails they got; those to the desk are not among them. */
  readonly mails: readonly SentMail[];
}

export interface StoryEnd {
  readonly fates: Readonly<Record<'Ada' | 'Ben' | 'Cleo' | 'Dan', Fate>>;
  readonly mails: readonly SentMail[];
  readonly moments: readonly Moment[];
}

/**
 * Four customers and three weeks, played over HTTP: Ada is quick and approved, Ben needs the reminder and is rejected, on Cleo
 * nobody decides, and Dan thinks better of it.
 */
export class Story {
  private readonly client: OnboardingClient;
  private readonly acts: Moment[] = [];

  constructor(private readonly app: TravellingApp) {
    this.client = new OnboardingClient(app.url);
  }

  async play(): Promise<StoryEnd> {
    const ada = await this.asks(customer('Ada', 'studio'));
    await this.asks(customer('Ada', 'studio'), 'clicks the button once more');
    await this.app.travel(2 * HOUR);
    const ben = await this.asks(customer('Ben', 'team'));
    const cleo = await this.asks(customer('Cleo', 'team'));
    const dan = await this.asks(customer('Dan', 'team'));

    await this.app.travel(1 * DAY);
    await this.completes(ada, 'Ada', { company: 'Analytical Engines', card: 'card-ok' });
    await this.completes(ada, 'Ada', { company: 'Analytical Engines', card: 'card-ok' }, 'sends the same once more');
    await this.app.travel(4 * HOUR);
    await this.decides(ada, 'Ada', { approved: true, by: 'Grace' });
    await this.app.travel(1 * DAY);
    await this.act(
      'Dan',
      () => this.client.cancel(dan, 'too busy'),
      (answer) => `cancels: ${heard(answer)}`,
    );

    await this.app.travel(2 * DAY);
    await this.completes(ben, 'Ben', { company: 'Bricks', card: 'card-ok' });
    await this.completes(cleo, 'Cleo', { company: 'Clocks', card: 'card-ok' });
    await this.app.travel(1 * DAY);
    await this.decides(ben, 'Ben', { approved: false, by: 'Grace', reason: 'no bricks, please' });
    await this.app.travel(14 * DAY);
    await this.decides(cleo, 'Cleo', { approved: true, by: 'Grace' });

    return this.end({ Ada: ada, Ben: ben, Cleo: cleo, Dan: dan });
  }

  private async asks(who: Customer, what = 'asks to be taken on'): Promise<string> {
    const { body } = await this.act(
      who.name,
      () => this.client.start(who),
      ({ status, body: { created } }) => `${what}: ${status} ${created ? 'begun' : 'begun before'}`,
    );
    return body.id;
  }

  private async completes(id: string, who: string, profile: Profile, what = 'completes the profile'): Promise<void> {
    await this.act(
      who,
      () => this.client.completeProfile(id, { ...profile, messageId: `profile of ${who}` }),
      (answer) => `${what}: ${heard(answer)}${answer.body.duplicate ? ', known already' : ''}`,
    );
  }

  private async decides(id: string, who: string, decision: Decision): Promise<void> {
    await this.act(
      decision.by,
      () => this.client.decide(id, decision),
      (answer) => `${decision.approved ? 'approves' : 'rejects'} ${who}: ${heard(answer)}`,
    );
  }

  /** Somebody does something over HTTP, and what is due then happens. */
  private async act<T>(who: string, call: () => Promise<T>, tell: (answer: T) => string): Promise<T> {
    const at = this.app.now;
    const answer = await call();
    this.acts.push({ at, who, what: tell(answer) });
    await this.app.settle();
    return answer;
  }

  private async end(ids: Record<keyof StoryEnd['fates'], string>): Promise<StoryEnd> {
    const mails = await this.client.mails();
    const fates = await Promise.all(
      Object.entries(ids).map(async ([name, id]): Promise<[string, Fate]> => {
        const view = await this.client.view(id);
        return [name, { view, mails: mails.filter(({ recipient }) => recipient === view.customer.email) }];
      }),
    );
    const told = fates.flatMap(([, { view }]) => momentsOf(view));
    return { fates: Object.fromEntries(fates) as StoryEnd['fates'], mails, moments: [...this.acts, ...told] };
  }
}

function customer(name: string, plan: Customer['plan']): Customer {
  return { name, email: `${name.toLowerCase()}@example.com`, plan };
}

/** What the app answered, in a word. */
function heard({ status, body }: Answer<unknown>): string {
  return status < 400 ? String(status) : `${status} ${(body as Refusal).code}`;
}
