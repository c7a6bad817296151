import { ERROR_CODES, formatMessage } from '../../../lib/errors/index.js';

describe('the catalogue of messages', () => {
  it('FAIL-4: every code has a text, a meaning, and says whether it is retried and whether by hand', () => {
    const codes = Object.entries(ERROR_CODES);
    expect(codes.length).toBeGreaterThan(50);
    for (const [code, entry] of codes) {
      expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
      expect(entry.text.length).toBeGreaterThan(5);
      expect(entry.meaning).toMatch(/^[A-Z`].*\.$/);
      expect(typeof entry.retried).toBe('boolean');
      expect(typeof entry.byHand).toBe('boolean');
    }
  });

  it('RETRY-3: denials, refused values and every limit are never retried by themselves; a child that did not start is', () => {
    const never = [
      'AUTHORIZATION_DENIED',
      'OWNER_MISMATCH',
      'SUBJECT_MISSING',
      'INVALID_INPUT',
      'INVALID_OUTPUT',
      'STEP_LIMIT_EXCEEDED',
      'NESTING_DEPTH_EXCEEDED',
      'START_RATE_EXCEEDED',
      'LOOP_LIMIT_EXCEEDED',
      'GRAPH_TOO_LARGE',
      'NO_APPROVERS',
      'TRANSITION_DENIED',
      'NON_RETRYABLE',
      'STAGE_FAILED',
      'STEP_MISMATCH',
      'STEP_NESTED',
      'INVALID_STEP',
      'WAIT_TIMEOUT',
      'CHILD_RUN_FAILED',
      'NO_COMPLETION_CHECK',
      'INVALID_WHERE',
      'INVALID_EVENT',
    ] as const;
    expect(never.filter((code) => ERROR_CODES[code].retried)).toEqual([]);
    expect(ERROR_CODES.CHILD_NOT_STARTED.retried).toBe(true);
    expect(ERROR_CODES.EXCEPTION.retried).toBe(true);
    expect(ERROR_CODES.STAGE_TIMEOUT.retried).toBe(true);
  });

  it('FAIL-4: a host translates a code, with the stored parameters filled in', () => {
    const params = { runId: '7f', status: 'COMPLETED' };
    expect(formatMessage('RUN_NOT_CANCELLABLE', params)).toBe(
      'Run 7f is COMPLETED already, so there is nothing to cancel. What it did stays done.',
    );
    const texts = { RUN_NOT_CANCELLABLE: 'Lauf {runId} ist schon {status}.' };
    expect(formatMessage('RUN_NOT_CANCELLABLE', params, texts)).toBe('Lauf 7f ist schon COMPLETED.');
    expect(formatMessage('RUN_NOT_FOUND', { runId: '7f' }, texts)).toMatch(/^There is no run 7f here/);
  });

  it('FAIL-4: an optional part goes when its parameter has no value, and stays when the value is falsy', () => {
    const texts = { X: 'a[[ b {b}]] c' };
    expect(formatMessage('X', {}, texts)).toBe('a c');
    expect(formatMessage('X', { b: null }, texts)).toBe('a c');
    expect(formatMessage('X', { b: 0 }, texts)).toBe('a b 0 c');
    expect(formatMessage('X', { b: false }, texts)).toBe('a b false c');
  });

  it('FAIL-4: parameters come out as they are: no pattern, place or prototype in them means anything', () => {
    const texts = { X: '<{a}>' };
    expect(formatMessage('X', { a: '$& {b} [[c]]', b: 'no' }, texts)).toBe('<$& {b} [[c]]>');
    expect(formatMessage('X', {}, { X: '<{constructor}>' })).toBe('<>');
    expect(formatMessage('toString', { message: 'own code' })).toBe('own code');
  });

  it('FAIL-4: lists read with commas, remarks a line each, dates as ISO texts', () => {
    const read = (a: unknown): string => formatMessage('X', { a }, { X: '{a}' });
    expect(read(['a', 1])).toBe('a, 1');
    expect(
      read([
        { path: ['items', 3], message: 'wrong' },
        { place: 'here', problem: 'no.', todo: 'Do.' },
      ]),
    ).toBe('\n  - items.3: wrong\n  - here: no. Do.');
    expect(read([{ path: [], message: 'wrong' }])).toBe('\n  - wrong');
    expect(read(new Date(0))).toBe('1970-01-01T00:00:00.000Z');
    expect(read(new Date(NaN))).toBe('an invalid date');
    expect(read({ a: 1 })).toBe('{"a":1}');
    expect(read('x'.repeat(30_000))).toHaveLength(20_001);
  });
});
