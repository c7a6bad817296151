import { EMPTY, NEVER, Observable, of, throwError } from 'rxjs';
import { deny } from '../../../lib/authorization/index.js';
import { authorizerKit, request, TIMEOUT_MS } from './authorization-kit.js';

const SECRET = 'password=hunter2';
const answering = (answer: () => unknown) => ({ policy: { authorize: answer } });

describe('PolicyStageAuthorizer', () => {
  it.each([
    ['true', () => true],
    ['an object', () => ({ allowed: true })],
    ['a Promise', async () => true],
    ['an Observable', () => of(true)],
    ['the last value of an Observable', () => of(false, { allowed: true })],
    ['a Promise of an Observable', async () => of(true)],
  ])('AUTH-2: a policy allows by %s', async (_how, answer) => {
    const { authorizer, log } = authorizerKit(answering(answer));
    expect(await authorizer.authorize(request())).toEqual({ allowed: true });
    expect(log.lines).toEqual([]);
  });

  it.each([
    ['false', () => false, undefined],
    ['deny', () => deny('This team is suspended.'), 'This team is suspended.'],
    ['an object', async () => ({ allowed: false, reason: 'no' }), 'no'],
    ['an object whose reason is no text', () => ({ allowed: false, reason: 7 }), undefined],
    ['an Observable', () => of(true, deny('changed its mind')), 'changed its mind'],
  ])('AUTH-2: a policy denies by %s', async (_how, answer, reason) => {
    const { authorizer } = authorizerKit(answering(answer));
    expect(await authorizer.authorize(request())).toEqual({ allowed: false, ...(reason && { reason }) });
  });

  it('AUTH-2: a policy is asked with the request as it is', async () => {
    const authorize = jest.fn(() => true);
    await authorizerKit({ policy: { authorize } }).authorizer.authorize(request({ attempt: 3, phase: 'resume' }));
    expect(authorize).toHaveBeenCalledWith(request({ attempt: 3, phase: 'resume' }));
  });

  it('AUTH-2: no ability is allowed, whoever acts, and no policy is asked', async () => {
    const authorize = jest.fn(() => false);
    const { authorizer } = authorizerKit({ policy: { authorize } });
    expect(await authorizer.authorize(request({ ability: null, actor: null }))).toEqual({ allowed: true });
    expect(authorize).not.toHaveBeenCalled();
  });

  it('AUTH-3: an ability that no policy serves is denied', async () => {
    const { authorizer } = authorizerKit();
    expect(await authorizer.authorize(request())).toEqual({
      allowed: false,
      reason: 'no policy of this app serves it',
    });
    expect(await authorizer.authorize(request({ ability: undefined as never }))).toMatchObject({ allowed: false });
  });

  it.each([
    ['neither says so', undefined, undefined, false],
    ['the policy says so', true, undefined, true],
    ['the decorator says so', undefined, true, true],
    ['the policy takes back what the decorator says', false, true, false],
    ['what is said is no boolean', 'yes', undefined, false],
  ])('AUTH-3: a run of nobody, where %s', async (_how, said, decorated, asked) => {
    const authorize = jest.fn(() => true);
    const policy = { authorize, allowSystem: said };
    const { authorizer } = authorizerKit({ policy, ...(decorated !== undefined && { allowSystem: decorated }) });
    for (const actor of [null, undefined]) {
      const verdict = await authorizer.authorize(request({ actor }));
      expect(verdict).toEqual(
        asked ? { allowed: true } : { allowed: false, reason: expect.stringContaining('nobody') },
      );
    }
    expect(authorize).toHaveBeenCalledTimes(asked ? 2 : 0);
  });

  it.each([
    ['throws', () => raise()],
    ['rejects', () => Promise.reject(new Error(SECRET))],
    ['returns an Observable that fails', () => throwError(() => new Error(SECRET))],
    ['returns an Observable that allows, then fails', () => new Observable((to) => (to.next(true), to.error(SECRET)))],
    ['throws what is no error', () => raise(SECRET)],
  ])('AUTH-3: a policy that %s has denied; what was thrown is for the log alone', async (_how, answer) => {
    const { authorizer, log } = authorizerKit(answering(answer));
    expect(await authorizer.authorize(request())).toEqual({ allowed: false, reason: 'the policy threw an error' });
    expect(log.matching('error', SECRET)).toHaveLength(1);
    expect(log.matching('error', 'Stage pay (stage-1) of run run-1, for "expenses.pay"')).toHaveLength(1);
  });

  it('AUTH-3: a policy that cannot be made has denied', async () => {
    const { authorizer } = authorizerKit({ policy: new Error(SECRET) });
    expect(await authorizer.authorize(request())).toEqual({ allowed: false, reason: 'the policy threw an error' });
  });

  it.each([
    ['undefined', () => undefined],
    ['null', () => null],
    ['a number', () => 1],
    ['a text', () => 'true'],
    ['an empty object', () => ({})],
    ['a text as allowed', () => ({ allowed: 'true' })],
    ['a getter that throws', () => Object.defineProperty({}, 'allowed', { get: () => raise() })],
    ['an array', () => [true]],
    ['a Promise of nothing', async () => undefined],
    ['an Observable without a value', () => EMPTY],
    ['an Observable of nothing', () => of(true, undefined)],
  ])('AUTH-3: %s is no answer, and denies', async (_what, answer) => {
    const { authorizer, log } = authorizerKit(answering(answer));
    expect(await authorizer.authorize(request())).toEqual({ allowed: false, reason: 'the policy gave no answer' });
    expect(log.lines).toHaveLength(1);
  });

  describe('in time', () => {
    beforeEach(() => jest.useFakeTimers());
    afterEach(() => jest.useRealTimers());

    it.each([
      ['a Promise', () => new Promise(() => undefined)],
      ['an Observable', () => NEVER],
      ['an Observable that has said yes, and goes on', () => new Observable((to) => to.next(true))],
    ])('AUTH-3: %s that does not end by the limit denies', async (_what, answer) => {
      const { authorizer } = authorizerKit(answering(answer));
      const verdict = authorizer.authorize(request());
      await jest.advanceTimersByTimeAsync(TIMEOUT_MS - 1);
      expect(await Promise.race([verdict, 'open'])).toBe('open');
      await jest.advanceTimersByTimeAsync(1);
      expect(await verdict).toEqual({ allowed: false, reason: 'the policy did not answer within 10 s' });
      expect(jest.getTimerCount()).toBe(0);
    });

    it('AUTH-3: an answer after the limit counts for nothing, and an Observable is left', async () => {
      let left = false;
      const { authorizer, log } = authorizerKit(answering(() => new Observable(() => () => void (left = true))));
      const verdict = authorizer.authorize(request());
      await jest.advanceTimersByTimeAsync(TIMEOUT_MS);
      expect(await verdict).toMatchObject({ allowed: false });
      expect([left, log.lines.length]).toEqual([true, 1]);
    });

    it('AUTH-3: an answer leaves no timer behind', async () => {
      await authorizerKit(answering(async () => true)).authorizer.authorize(request());
      expect(jest.getTimerCount()).toBe(0);
    });
  });
});

function raise(what: unknown = new Error(SECRET)): never {
  throw what;
}
