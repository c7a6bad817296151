import { fc } from '../../../support/properties.js';
import {
  MAX_DURATION_MS,
  MAX_TIMER_MS,
  formatDuration,
  nextTimerMs,
  parseDurationMs,
} from '../../../../lib/engine/time/index.js';
import { InvalidDurationError } from '../../../../lib/errors/index.js';

const DAY = 86_400_000;

function refusal(value: unknown): InvalidDurationError {
  try {
    parseDurationMs(value as string, 'wake.every');
  } catch (error) {
    if (error instanceof InvalidDurationError) return error;
    throw error;
  }
  throw new Error(`${String(value)} was taken`);
}

describe('parseDurationMs', () => {
  it.each([
    [0, 0],
    [1_500, 1_500],
    [0.6, 1],
    ['0s', 0],
    ['250ms', 250],
    ['30s', 30_000],
    [' 5m ', 300_000],
    ['10 min', 600_000],
    ['2 h', 7_200_000],
    ['1.5 hours', 5_400_000],
    ['.5s', 500],
    ['7 days', 7 * DAY],
    ['1 WEEK', 7 * DAY],
    ['PT5M', 300_000],
    ['P1DT2H', DAY + 7_200_000],
    ['P2W', 14 * DAY],
    ['PT0.5S', 500],
    ['PT0,5S', 500],
    ['P1DT1H1M1S', DAY + 3_661_000],
    ['400 d', 400 * DAY],
  ])('STEP-3: %p is %p ms', (value, ms) => {
    expect(parseDurationMs(value, 'a sleep')).toBe(ms);
  });

  it.each([
    [NaN, 'not a finite number'],
    [Infinity, 'not a finite number'],
    [-1, 'negative'],
    ['-5s', 'negative'],
    ['', 'empty'],
    ['   ', 'empty'],
    ['5 parsecs', "'parsecs' is no unit"],
    ['5000', 'without a unit'],
    ['s', 'not understood'],
    ['soon', 'not understood'],
    ['P', 'not understood'],
    ['PT', 'not understood'],
    ['P1DT', 'not understood'],
    ['PT1.2.3S', 'not a finite number'],
    ['1h30m', 'more than one unit'],
    ['5M', 'minutes or months'],
    ['1 month', 'no fixed length'],
    ['2y', 'no fixed length'],
    ['P1M', 'no fixed length'],
    ['P1Y', 'no fixed length'],
    ['1001 years', 'no fixed length'],
    ['400000 days', 'longer than 1,000 years'],
    ['5 5 s', 'not understood'],
    ['5 constructor', 'no unit'],
    [null, 'neither a number nor a text'],
    [undefined, 'neither a number nor a text'],
    [{}, 'neither a number nor a text'],
    [10n, 'neither a number nor a text'],
  ])('FAULT C17: %p is refused with what to write instead', (value, reason) => {
    const error = refusal(value);
    expect(error.code).toBe('INVALID_DURATION');
    expect(error.message).toContain('wake.every is not a duration');
    expect(error.message).toContain(reason);
    expect(error.message).toContain("'30s', '5m', '2 h', '7 days'");
  });

  it('FAULT C17: whatever the text, it is a duration or refused as one', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^P?[\d.]{1,3}\s?[a-zA-Z]{0,6}$/), fc.double()), (value) => {
        let ms: number;
        try {
          ms = parseDurationMs(value, 'x');
        } catch (error) {
          return error instanceof InvalidDurationError;
        }
        return Number.isInteger(ms) && ms >= 0 && ms <= MAX_DURATION_MS;
      }),
    );
  });
});

describe('nextTimerMs', () => {
  it('FAULT B1: a long delay is set in parts that a timer takes, and ends at its instant', () => {
    for (const total of [2_147_483_647, 2_147_483_648, 30 * DAY, 400 * DAY]) {
      let left = total;
      let timers = 0;
      while (left > 0) {
        const next = nextTimerMs(left);
        expect(next).toBeLessThanOrEqual(MAX_TIMER_MS);
        left -= next;
        timers += 1;
      }
      expect(left).toBe(0);
      expect(timers).toBe(Math.ceil(total / (2 ** 31 - 1)));
    }
  });

  it('FAULT B7: what is due in the past is due now; a part of a millisecond is waited for', () => {
    expect(nextTimerMs(-5)).toBe(0);
    expect(nextTimerMs(0)).toBe(0);
    expect(nextTimerMs(0.2)).toBe(1);
    expect(nextTimerMs(Infinity)).toBe(MAX_TIMER_MS);
  });

  it('FAULT B1: NaN, which would fire for ever without a pause, is refused', () => {
    expect(() => nextTimerMs(NaN)).toThrow(InvalidDurationError);
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0 ms'],
    [0.2, '0 ms'],
    [250, '250 ms'],
    [30_000, '30 s'],
    [5_400_000, '1 h 30 min'],
    [7 * DAY, '7 d'],
    [DAY + 1, '1 d'],
    [-90_000, '-1 min 30 s'],
    [Infinity, 'no limit'],
  ])('FAIL-4: %p ms reads as %p', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});
