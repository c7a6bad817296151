import { randomUUID } from 'node:crypto';
import type { OnboardingView, StageView } from '../../sample/02-onboarding/app/onboarding-view.js';
import type { Customer } from '../../sample/02-onboarding/customers/customer.js';
import { OnboardingClient, type Refusal, type Wire } from '../../sample/02-onboarding/story/onboarding-client.js';
import { Story, type StoryEnd } from '../../sample/02-onboarding/story/story.js';
import { TravellingApp } from '../../sample/02-onboarding/story/travelling-app.js';
import { testServerUrl } from '../support/database.js';
import { forkProcess, type TestProcess } from '../support/processes.js';
import { until } from '../support/until.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

type View = Wire<OnboardingView>;

describe('sample 02, onboarding', () => {
  jest.setTimeout(180_000);

  let app: TravellingApp;
  let client: OnboardingClient;
  let end: StoryEnd;

  beforeAll(async () => {
    app = await TravellingApp.open({ server: testServerUrl(), lostAnswers: 1 });
    client = new OnboardingClient(app.url);
    end = await new Story(app).play();
  });
  afterAll(() => app.close());

  const customer = (name: string, plan: Customer['plan'] = 'team'): Customer => ({
    name,
    email: `${name}@example.com`,
    plan,
  });
  const begin = async (name: string): Promise<string> => (await client.start(customer(name))).body.id;
  const stage = (view: View, key: string): Wire<StageView> => view.stages.find((one) => one.stage === key)!;
  const step = (view: View, key: string, name: string) => stage(view, key).steps.find((one) => one.name === name)!;
  const daysAfterStart = (view: View, at: string | null): number =>
    (Date.parse(at!) - Date.parse(view.createdAt)) / DAY;
  const profile = { company: 'Works', card: 'card-ok' };
  const approval = { approved: true, by: 'Grace' };

  describe('its story', () => {
    it('WAIT-2: a profile that comes in time ends the wait for the reminder', () => {
      const { view, mails } = end.fates.Ada;
      expect(view).toMatchObject({ status: 'COMPLETED', output: { outcome: 'active' }, failure: null, waitsFor: [] });
      expect(view.stages.map(({ stage: key, status }) => [key, status])).toEqual([
        ['welcome', 'COMPLETED'],
        ['profile', 'COMPLETED'],
        ['sign-off', 'COMPLETED'],
        ['billing', 'COMPLETED'],
        ['finish', 'COMPLETED'],
      ]);
      expect(step(view, 'profile', 'profile')).toMatchObject({ kind: 'event', status: 'completed', timedOut: false });
      expect(step(view, 'profile', 'patience')).toMatchObject({ kind: 'sleep', status: 'cancelled' });
      expect(mails.map(({ subject }) => subject)).toEqual(['Welcome', 'You can begin']);
    });

    it('STEP-3: a reminder goes out after three days, and the profile still counts', () => {
      const { view, mails } = end.fates.Ben;
      const reminder = step(view, 'profile', 'mail:reminder');
      expect(daysAfterStart(view, reminder.endedAt)).toBeGreaterThanOrEqual(3);
      expect(daysAfterStart(view, reminder.endedAt)).toBeLessThan(3.01);
      expect(daysAfterStart(view, step(view, 'profile', 'profile').endedAt)).toBeCloseTo(4 + 4 / 24, 1);
      expect(mails.map(({ subject }) => subject)).toEqual(['Welcome', 'Your profile is waiting', 'We are sorry']);
    });

    it('STEP-4: a decision is a signal: a rejection skips billing and is told', () => {
      const { view } = end.fates.Ben;
      expect(view).toMatchObject({ status: 'COMPLETED', output: { outcome: 'rejected' }, billing: null });
      expect(stage(view, 'billing')).toMatchObject({ status: 'SKIPPED', attempt: 0 });
      expect(step(view, 'sign-off', 'sign-off')).toMatchObject({
        kind: 'signal',
        result: { approved: false, by: 'Grace', reason: 'no bricks, please' },
      });
    });

    it('STEP-4: a decision that nobody takes times out, and the onboarding fails with its code', () => {
      const { view } = end.fates.Cleo;
      expect(view).toMatchObject({ status: 'FAILED', failure: { code: 'SIGN_OFF_TIMED_OUT' }, waitsFor: [] });
      expect(step(view, 'sign-off', 'sign-off')).toMatchObject({ status: 'completed', timedOut: true });
      const asked = step(view, 'sign-off', 'mail:sign-off').endedAt!;
      const waited = (Date.parse(view.finishedAt!) - Date.parse(asked)) / DAY;
      expect(waited).toBeGreaterThanOrEqual(14);
      expect(waited).toBeLessThan(14.01);
      expect(end.moments).toContainEqual(expect.objectContaining({ what: 'approves Cleo: 409 RUN_ENDED' }));
    });

    it('CANCEL-1: a cancelled onboarding sends nothing more', () => {
      const { view, mails } = end.fates.Dan;
      expect(view).toMatchObject({ status: 'CANCELLED', cancelReason: 'too busy', waitsFor: [] });
      expect(mails.map(({ subject }) => subject)).toEqual(['Welcome']);
    });

    it('STEP-1: a mail whose answer was lost is handed over again and goes out once', () => {
      const { Ada } = end.fates;
      expect(step(Ada.view, 'welcome', 'mail:welcome')).toMatchObject({ status: 'completed', attempt: 2 });
      expect(end.mails.map(({ handedOver }) => handedOver).sort()).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
      const sent = end.mails.map(({ recipient, subject }) => `${recipient} ${subject}`);
      expect(new Set(sent).size).toBe(sent.length);
      expect(new Set(end.mails.map(({ key }) => key)).size).toBe(11);
    });

    it('WAIT-6: billing is a child whose payment is looked at every ten minutes, three times', () => {
      const { view } = end.fates.Ada;
      expect(view.billing).toMatchObject({ status: 'COMPLETED' });
      expect(view.billing!.stages.map(({ stage: key, attempt }) => [key, attempt])).toEqual([
        ['open-account', 1],
        ['first-payment', 1],
      ]);
      const payment = view.billing!.stages[1]!;
      expect(payment.progress).toEqual({ done: 3, total: 3, message: 'settled' });
      expect(payment.log.map(({ message }) => /(\w+) at look (\d)$/.exec(message)?.slice(1))).toEqual([
        ['pending', '1'],
        ['pending', '2'],
        ['settled', '3'],
      ]);
      const looks = payment.log.map(({ at }) => Date.parse(at));
      for (const [i, at] of looks.slice(1).entries()) expect((at - looks[i]!) / MINUTE).toBeCloseTo(10, 0);
      expect(payment.steps.map(({ name, kind, status }) => [name, kind, status])).toContainEqual([
        'charge',
        'once',
        'completed',
      ]);
    });

    it('ANN-1: what was decided, and the account, are found at the run, once each', () => {
      const { accountId } = end.fates.Ada.view.output as { accountId: string };
      expect(end.fates.Ada.view.annotations.map(({ key, value }) => ({ key, value }))).toEqual([
        { key: 'sign-off', value: approval },
        { key: 'billing.account', value: accountId },
      ]);
      expect(end.fates.Cleo.view.annotations).toEqual([]);
    });

    it('OBS-3: lines written in steps and after waits stand in the history once, replays notwithstanding', () => {
      const lines = end.fates.Ben.view.stages.flatMap(({ log }) => log.map(({ message }) => message));
      expect(lines).toEqual([
        'mail to ben@example.com: Welcome',
        'mail to ben@example.com: Your profile is waiting',
        'the profile of Ben, Bricks, is complete',
        'mail to desk@example.com: Please decide on Ben',
        'rejected by Grace: no bricks, please',
        'mail to ben@example.com: We are sorry',
      ]);
    });
  });

  it('IDEM-1: one address is onboarded once, and not with another plan', async () => {
    const first = await client.start(customer('eve'));
    expect(first).toMatchObject({ status: 201, body: { created: true } });
    expect(await client.start(customer('eve'))).toEqual({ status: 200, body: { id: first.body.id, created: false } });
    expect(await client.start(customer('eve', 'studio'))).toMatchObject({
      status: 409,
      body: { code: 'IDEMPOTENCY_CONFLICT' },
    });
  });

  it('WAIT-3: a profile and a decision that come before anybody waits for them are kept', async () => {
    const id = await begin('fay');
    const body = { ...profile, messageId: 'fay-1' };
    expect(await client.completeProfile(id, body)).toMatchObject({ status: 202, body: { duplicate: false } });
    expect(await client.completeProfile(id, body)).toMatchObject({ status: 202, body: { duplicate: true } });
    expect(await client.decide(id, { ...approval, messageId: 'fay-2' })).toMatchObject({ body: { status: 'stored' } });
    expect(await client.decide(id, { ...approval, messageId: 'fay-2' })).toMatchObject({
      body: { status: 'duplicate' },
    });
    await app.settle();
    const view = await client.view(id);
    expect(view.waitsFor).toMatchObject([
      { stage: 'billing', step: 'billing', kind: 'child' },
      { stage: 'first-payment', kind: 'completion' },
    ]);
    await app.travel(30 * MINUTE);
    expect(await client.view(id)).toMatchObject({ status: 'COMPLETED', output: { outcome: 'active' } });
  });

  it('WAIT-5: who never completes the profile is reminded once, and given up after ten days', async () => {
    const id = await begin('gus');
    await app.settle();
    const waiting = await client.view(id);
    expect(waiting.waitsFor.map(({ step: name, kind, name: event }) => [name, kind, event])).toEqual([
      ['patience', 'sleep', null],
      ['profile', 'event', `profile.completed:${id}`],
    ]);
    expect(waiting.waitsFor.map(({ until }) => Math.round(daysAfterStart(waiting, until)))).toEqual([3, 10]);
    await app.travel(11 * DAY);
    const view = await client.view(id);
    expect(view).toMatchObject({ status: 'FAILED', failure: { code: 'PROFILE_MISSING' } });
    expect(daysAfterStart(view, view.finishedAt)).toBeCloseTo(10, 1);
    const mails = (await client.mails()).filter(({ recipient }) => recipient === 'gus@example.com');
    expect(mails.map(({ subject }) => subject)).toEqual(['Welcome', 'Your profile is waiting']);
    expect(await client.completeProfile(id, profile)).toMatchObject({ status: 409, body: { code: 'RUN_ENDED' } });
  });

  it('STEP-9: a child that fails fails its parent with a code of the parent', async () => {
    const id = await begin('hal');
    await client.completeProfile(id, { ...profile, card: 'card-declined' });
    await client.decide(id, approval);
    await app.travel(11 * MINUTE);
    const view = await client.view(id);
    expect(view).toMatchObject({
      status: 'FAILED',
      failure: { code: 'BILLING_FAILED' },
      billing: { status: 'FAILED' },
    });
    expect(view.failure!.message).toBe('hal could not be billed');
    expect(step(view, 'billing', 'billing')).toMatchObject({ kind: 'child', status: 'failed' });
  });

  it('CANCEL-3: cancelling an onboarding ends its billing', async () => {
    const id = await begin('ida');
    await client.completeProfile(id, profile);
    await client.decide(id, approval);
    await app.settle();
    expect(await client.view(id)).toMatchObject({ status: 'RUNNING', billing: { status: 'RUNNING' } });
    expect(await client.cancel(id, 'changed her mind')).toMatchObject({ status: 200, body: { status: 'CANCELLED' } });
    await app.settle();
    expect(await client.view(id)).toMatchObject({ cancelReason: 'changed her mind', billing: { status: 'CANCELLED' } });
    expect(await client.cancel(id, 'again')).toMatchObject({ status: 409, body: { code: 'RUN_NOT_CANCELLABLE' } });
  });

  it('answers what is wrong with a request, in words', async () => {
    const missing = await client.call<Refusal>('GET', `/onboardings/${randomUUID()}`);
    expect(missing).toMatchObject({ status: 404, body: { code: 'RUN_NOT_FOUND' } });
    const billing = end.fates.Ada.view.billing!.id;
    expect(await client.call('GET', `/onboardings/${billing}`)).toMatchObject({ status: 404 });
    expect(await client.decide(billing, approval)).toMatchObject({ status: 404, body: { code: 'RUN_NOT_FOUND' } });
    expect(await client.call('GET', '/onboardings/nonsense')).toMatchObject({ status: 400 });
    const wrong = await client.call<Refusal>('POST', '/onboardings', { name: 'Jo', email: 'nonsense', plan: 'team' });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'INVALID_BODY' } });
    expect(wrong.body.message).toContain('email');
    const empty = await client.call<Refusal>('POST', `/onboardings/${end.fates.Ada.view.id}/sign-off`);
    expect(empty).toMatchObject({ status: 400, body: { code: 'INVALID_BODY' } });
    const { body } = await client.call<{ paths: object }>('GET', '/api-json');
    expect(Object.keys(body.paths)).toEqual([
      '/onboardings',
      '/onboardings/{id}',
      '/onboardings/{id}/profile',
      '/onboardings/{id}/sign-off',
      '/onboardings/{id}/cancel',
      '/mails',
    ]);
  });

  describe('as a process', () => {
    function start(...args: string[]): TestProcess {
      return forkProcess('test/e2e/sample-02.process.ts', { args, env: { DATABASE_URL: testServerUrl() } });
    }

    it('prints the story and ends', async () => {
      const sample = start();
      expect(await sample.ended).toEqual({ code: 0, signal: null });
      expect(sample.output).toMatch(/^day {2}3 02:00 {2}Ben {4}mail to ben@example.com: Your profile is waiting$/m);
      expect(sample.output).toMatch(/^day {2}1 06:30 {2}Ada {4}= COMPLETED: active$/m);
      expect(sample.output).toMatch(/^day 18 06:00 {2}Cleo {3}= FAILED SIGN_OFF_TIMED_OUT: /m);
      expect(sample.output).toContain('4 onboardings: 2 completed, 1 failed, 1 cancelled.');
      expect(sample.output).toContain('11 mails went out, each once; 1 was handed over twice');
    });

    it('WAIT-3: serves on the real clock, where what came early moves a run along by itself', async () => {
      const sample = start('--serve');
      let text = '';
      while (!text.includes('until Ctrl-C')) text += (await sample.waitFor<{ text: string }>('printed')).text;
      const served = new OnboardingClient(/HTTP: (\S+)/.exec(text)![1]!);
      const { id } = (await served.start(customer('kim'))).body;
      await served.completeProfile(id, profile);
      await served.decide(id, approval);
      const view = await until(async () => {
        const now = await served.view(id);
        return now.billing?.stages[1]?.status === 'SUSPENDED' && now;
      });
      expect(view).toMatchObject({ status: 'RUNNING', billing: { stages: [{}, { status: 'SUSPENDED' }] } });
      expect(await sample.kill('SIGINT')).toEqual({ code: 130, signal: null });
    });

    it('says what is wrong with an option', async () => {
      const sample = start('--port', 'high');
      expect(await sample.ended).toEqual({ code: 1, signal: null });
      expect(sample.output).toContain('--port takes a number');
    });
  });
});
