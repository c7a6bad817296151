import { fc } from '../../../support/properties.js';
import {
  FAILURE_LIMITS,
  type FailureRecord,
  MAX_RETRY_AFTER_MS,
  cleanText,
  decodeJson,
  describeFailure,
  encodeJson,
  reviveFailure,
} from '../../../../lib/engine/codec/index.js';
import {
  InvalidOutputError,
  LeaseExpiredError,
  NonRetryableError,
  RetryAfterError,
  RunNotFoundError,
  StageFailedError,
  StageTimeoutError,
  WorkflowError,
} from '../../../../lib/errors/index.js';

function isWellFormed(text: string): boolean {
  return Buffer.from(text, 'utf8').toString('utf8') === text;
}

/** Every text that the store keeps as text must be storable, and the whole record as JSON. */
function expectStorable(record: FailureRecord): void {
  for (const text of [record.code, record.name, record.message, record.stack ?? '']) {
    expect(text).not.toContain('\0');
    expect(isWellFormed(text)).toBe(true);
  }
  expect(record.message.length).toBeLessThanOrEqual(FAILURE_LIMITS.maxMessageLength);
  expect(decodeJson(encodeJson(record, { maxBytes: 200_000 }))).toStrictEqual(record);
}

describe('describeFailure', () => {
  it('FAIL-3: whatever was thrown, it becomes a record that can be stored', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true, stringUnit: 'binary' }), (thrown) => {
        expectStorable(describeFailure(thrown, { now: 0 }));
        expectStorable(
          describeFailure(
            Object.assign(new Error('x'), {
              cause: thrown,
              message: thrown,
              name: thrown,
              retryAfter: thrown,
              errors: [thrown],
            }),
          ),
        );
      }),
    );
  });

  it.each([
    ['no', 'no'],
    ['', ''],
    [undefined, 'undefined was thrown.'],
    [null, 'null was thrown.'],
    [0, '0 was thrown.'],
    [10n, '10 was thrown.'],
    [Symbol('s'), 'Symbol(s) was thrown.'],
    [() => 1, 'A function was thrown.'],
    [{ status: 500 }, 'An object was thrown.'],
    [{ message: 7 }, '7'],
  ])('RETRY-3: %p thrown is retried as EXCEPTION', (thrown, message) => {
    expect(describeFailure(thrown)).toEqual({ code: 'EXCEPTION', name: 'NonError', message, retryable: true });
  });

  it('RETRY-3: errors of the package keep their code, the rest is EXCEPTION, a code property or not', () => {
    const of = (error: unknown): object => {
      const { code, retryable } = describeFailure(error);
      return { code, retryable };
    };
    expect(of(Object.assign(new TypeError('x'), { code: 'ECONNREFUSED', retryable: false }))).toEqual({
      code: 'EXCEPTION',
      retryable: true,
    });
    expect(of(new NonRetryableError('x'))).toEqual({ code: 'NON_RETRYABLE', retryable: false });
    expect(of(new StageFailedError('CARD_DECLINED', 'x'))).toEqual({ code: 'CARD_DECLINED', retryable: false });
    expect(of(new StageFailedError('x'))).toEqual({ code: 'STAGE_FAILED', retryable: false });
    expect(of(new RunNotFoundError({ runId: 'r' }))).toEqual({ code: 'RUN_NOT_FOUND', retryable: false });
    expect(of(new InvalidOutputError({ path: '$', reason: 'x' }))).toEqual({
      code: 'INVALID_OUTPUT',
      retryable: false,
    });
    expect(of(new StageTimeoutError({ stage: 's', timeout: '5 min' }))).toEqual({
      code: 'STAGE_TIMEOUT',
      retryable: true,
    });
    expect(of(new RetryAfterError('x', 5))).toEqual({ code: 'EXCEPTION', retryable: true });
    expect(of(new LeaseExpiredError({ stage: 's', worker: 'w', losses: 5, maxLosses: 5 }))).toEqual({
      code: 'LEASE_EXPIRED',
      retryable: false,
    });
  });

  it('RETRY-3: an error of another copy of the package that lost its fields is judged by its code, or is EXCEPTION', () => {
    const branded = (fields: object): object => ({ [Symbol.for('nestjs-workflow-engine:error')]: true, ...fields });
    expect(describeFailure(branded({ code: 'STAGE_TIMEOUT' })).retryable).toBe(true);
    expect(describeFailure(branded({ code: 'INVALID_INPUT' })).retryable).toBe(false);
    expect(describeFailure(branded({ code: 'MADE_UP' }))).toMatchObject({ code: 'MADE_UP', retryable: false });
    expect(describeFailure(branded({ code: 7 }))).toMatchObject({ code: 'EXCEPTION', retryable: true });
  });

  it('FAIL-4: the parameters are kept beside the code, bounded one by one', () => {
    const error = new WorkflowError('MADE_UP', {
      text: 'a\0b',
      long: 'x'.repeat(10_000),
      list: [1, { a: 2 }],
      large: ['x'.repeat(10_000)],
      odd: 10n,
      missing: undefined,
      nothing: null,
    });
    expect(describeFailure(error).params).toEqual({
      text: 'a\ufffdb',
      long: `${'x'.repeat(499)}…`,
      list: [1, { a: 2 }],
      nothing: null,
    });
    const odd = new WorkflowError(
      'MADE_UP',
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('no');
          },
        },
      ),
    );
    expect(describeFailure(odd).params).toBeUndefined();
    expect(describeFailure(new WorkflowError('MADE_UP', {})).params).toBeUndefined();
  });

  it('FAULT A1: U+0000 and lone surrogates in message, name and stack are made storable', () => {
    const error = new Error('a\u0000b\ud800c\udc00d\u{1f600}');
    error.name = 'N\0';
    error.stack = `N: ${error.message}\n    at f (\0\ud800.js:1:1)`;
    const record = describeFailure(error);
    expect(record).toMatchObject({ name: 'N\ufffd', message: 'a\ufffdb\ufffdc\ufffdd\u{1f600}' });
    expect(record.stack).toBe('    at f (\ufffd\ufffd.js:1:1)');
    expectStorable(record);
  });

  it('FAULT A8: 50 MB of message are cut, and its frames still found', () => {
    const record = describeFailure(new Error('x'.repeat(50_000_000)));
    expect(record.message).toBe(`${'x'.repeat(999)}…`);
    expect(record.stack).toContain('failure-record.spec');
    expectStorable(record);
  });

  it('FAULT A8: of 10,000 frames fifty are kept, of a frame 300 letters', () => {
    const error = new Error('x');
    error.stack = `Error: x\n${Array.from({ length: 10_000 }, (_, at) => `    at f${at} (${'p'.repeat(at)}.js)`).join('\n')}`;
    const lines = describeFailure(error).stack!.split('\n');
    expect(lines).toHaveLength(50);
    expect(lines[49]).toMatch(/^ {4}at f49 /);
    error.stack = `Error: x\n    at ${'y'.repeat(5_000)}`;
    expect(describeFailure(error).stack).toHaveLength(300);
  });

  it('FAULT A8: frames that a message quotes are not taken for its own; a stack without frames is left out', () => {
    const error = new Error('failed:\n    at quoted (a.js:1:1)');
    expect(describeFailure(error).stack).not.toContain('quoted');
    error.message = 'replaced';
    expect(describeFailure(error).stack).toContain('quoted');
    error.stack = 'nothing here';
    expect(describeFailure(error)).not.toHaveProperty('stack');
    Object.assign(error, { stack: 7 });
    expect(describeFailure(error)).not.toHaveProperty('stack');
  });

  it('FAULT A8: of 10,000 causes five are kept', () => {
    let error = new Error('0');
    for (let at = 1; at < 10_000; at++) error = new Error(String(at), { cause: error });
    const messages: string[] = [];
    for (let at: FailureRecord | undefined = describeFailure(error); at; at = at.cause) messages.push(at.message);
    expect(messages).toEqual(['9999', '9998', '9997', '9996', '9995', '9994']);
  });

  it('FAULT A8: the parts of an AggregateError are kept, twenty failures in all', () => {
    const fan = (depth: number): Error =>
      depth === 0
        ? new Error('leaf')
        : new AggregateError(
            Array.from({ length: 100 }, () => fan(depth - 1)),
            `at ${depth}`,
          );
    const record = describeFailure(fan(2));
    const count = (at: FailureRecord): number => 1 + (at.errors ?? []).reduce((sum, part) => sum + count(part), 0);
    expect(count(record)).toBe(20);
    expectStorable(record);
    expect(describeFailure(new AggregateError(['a', 'a'], 'both')).errors?.map(({ message }) => message)).toEqual([
      'a',
      'a',
    ]);
    const endless = Object.assign(new Error('x'), { errors: Object.assign([new Error('y')], { length: 4e9 }) });
    expect(describeFailure(endless).errors).toHaveLength(19);
  });

  it('FAULT A8: an empty message of an AggregateError reads as those of its parts, else as its code', () => {
    const parts = [new Error('connect ECONNREFUSED ::1'), new Error('connect ECONNREFUSED 127.0.0.1')];
    expect(describeFailure(new AggregateError(parts)).message).toBe(
      'connect ECONNREFUSED ::1; connect ECONNREFUSED 127.0.0.1',
    );
    expect(describeFailure(Object.assign(new Error(''), { code: 'ECONNRESET' })).message).toBe('ECONNRESET');
    expect(describeFailure(new Error('')).message).toBe('');
  });

  it('FAULT A9: an error with cycles keeps its message, and cycles end', () => {
    const error = Object.assign(new Error('x'), { self: undefined as unknown, response: { request: {} as object } });
    error.self = error;
    error.response.request = { res: error.response };
    error.cause = new Error('y', { cause: error });
    const record = describeFailure(error);
    expect(record).toMatchObject({ message: 'x', cause: { message: 'y' } });
    expect(record.cause).not.toHaveProperty('cause');
    expectStorable(record);
    const aggregate = new AggregateError([], 'all');
    aggregate.errors.push(aggregate, new Error('z'));
    expect(describeFailure(aggregate).errors?.map(({ message }) => message)).toEqual(['z']);
  });

  it('FAULT A9: throwing getters, proxies and revoked proxies are described, not thrown', () => {
    const throwing = (): never => {
      throw new Error('trap');
    };
    const getters = Object.defineProperties(new Error('x'), {
      // First of all: V8 reads name and message when it is redefined.
      stack: { get: throwing },
      message: { get: throwing },
      name: { get: throwing },
      cause: { get: throwing },
      errors: { get: throwing },
      retryAfter: { get: throwing },
    });
    const traps = new Proxy(new Error('x'), {
      get: throwing,
      has: throwing,
      getPrototypeOf: throwing,
      ownKeys: throwing,
    });
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    for (const thrown of [getters, traps, proxy, Object.assign(new Error('x'), { errors: proxy, cause: proxy })]) {
      const record = describeFailure(thrown, { now: 0 });
      expect(record.code).toBe('EXCEPTION');
      expectStorable(record);
    }
  });

  it.each([
    [5_000, 5_000],
    [0, 0],
    ['5s', 5_000],
    ['PT1M', 60_000],
    [new Date(61_000), 60_000],
    [new Date(0), 0],
    [1e300, MAX_RETRY_AFTER_MS],
    [Infinity, MAX_RETRY_AFTER_MS],
    ['100 weeks', MAX_RETRY_AFTER_MS],
    [new Date(8.64e15), MAX_RETRY_AFTER_MS],
    ['120', undefined],
    ['soon', undefined],
    [-1, undefined],
    [NaN, undefined],
    [new Date(NaN), undefined],
    [{}, undefined],
    [null, undefined],
    [true, undefined],
  ])('FAULT B16: retryAfter %p is %p ms', (retryAfter, ms) => {
    expect(describeFailure(new RetryAfterError('x', retryAfter as number), { now: 1_000 }).retryAfterMs).toBe(ms);
    expect(describeFailure(Object.assign(new Error('x'), { retryAfter }), { now: 1_000 }).retryAfterMs).toBe(ms);
    expect(
      describeFailure(Object.assign(new Error('x'), { retryAfterMs: retryAfter }), { now: 1_000 }).retryAfterMs,
    ).toBe(ms);
  });

  it('FAULT B16: without the present instant a Date says nothing; retryAfterMs goes first', () => {
    expect(describeFailure(new RetryAfterError('x', new Date(61_000)))).not.toHaveProperty('retryAfterMs');
    expect(describeFailure(Object.assign(new Error('x'), { retryAfterMs: 1, retryAfter: 2 })).retryAfterMs).toBe(1);
  });
});

describe('reviveFailure', () => {
  it('FAULT A16: the replayed error equals the recorded one exactly, stack and causes included', () => {
    const errors = [
      new TypeError('a', { cause: new StageFailedError('OWN', 'b', { cause: 'c' }) }),
      new NonRetryableError('no'),
      new RetryAfterError('later', '5m'),
      new AggregateError([new Error('a'), 'b'], 'all'),
      new LeaseExpiredError({ stage: 's', worker: 'w', losses: 5, maxLosses: 5 }),
      'a string',
      undefined,
    ];
    for (const error of errors) {
      const record = describeFailure(error);
      expect(describeFailure(reviveFailure(record))).toEqual(record);
    }
  });

  it('STEP-1: a body can ask a replayed error for its name, code and parameters', () => {
    const revived = reviveFailure(describeFailure(new RunNotFoundError({ runId: 'r' })));
    expect(WorkflowError.is(revived)).toBe(true);
    expect(revived).toMatchObject({
      name: 'RunNotFoundError',
      code: 'RUN_NOT_FOUND',
      params: { runId: 'r' },
      retryable: false,
    });
    const plain = reviveFailure(describeFailure(new RangeError('x')));
    expect(plain).toBeInstanceOf(Error);
    expect(WorkflowError.is(plain)).toBe(false);
    expect(String(plain)).toBe('RangeError: x');
    expect(plain.stack).toMatch(/^RangeError: x\n {4}at /);
  });
});

describe('cleanText', () => {
  it('FAIL-3: every text becomes storable and no longer than asked, never with half a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), fc.integer({ min: 1, max: 20 }), (text, max) => {
        const clean = cleanText(text, max);
        expect(isWellFormed(clean)).toBe(true);
        expect(clean).not.toContain('\0');
        expect(clean.length).toBeLessThanOrEqual(max);
        if (text.length <= max && isWellFormed(text) && !text.includes('\0')) expect(clean).toBe(text);
      }),
    );
    expect(cleanText('ab\u{1f600}cd', 4)).toBe('ab…');
  });
});
