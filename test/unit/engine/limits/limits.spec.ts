import {
  DEFAULT_LIMITS,
  type LimitsInput,
  checkInputBytes,
  checkNestingDepth,
  checkOutputBytes,
  checkStageRuns,
  compileLimits,
  lowerLimits,
} from '../../../../lib/engine/limits/index.js';
import {
  InvalidInputError,
  InvalidOptionsError,
  InvalidOutputError,
  LimitExceededError,
} from '../../../../lib/errors/index.js';

function thrown(call: () => unknown): Error & { code?: string } {
  try {
    call();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

function problems(call: () => unknown): string[] {
  const error = thrown(call);
  if (!(error instanceof InvalidOptionsError)) throw error;
  return error.problems.map(({ path, message }) => `${path} ${message}`);
}

describe('compileLimits', () => {
  it('LIMIT-1, LIMIT-2, LIMIT-6: 200 stage runs, a depth of 3, 64 KiB of output and 256 KiB of input, unless told', () => {
    expect(compileLimits()).toEqual({
      maxStageRuns: 200,
      nestingDepth: 3,
      startsPerMinute: null,
      maxOutputBytes: 65_536,
      maxInputBytes: 262_144,
    });
    expect(compileLimits({ maxStageRuns: 1_000, nestingDepth: 0, maxInputBytes: undefined })).toEqual({
      ...DEFAULT_LIMITS,
      maxStageRuns: 1_000,
      nestingDepth: 0,
    });
    expect(Object.isFrozen(compileLimits())).toBe(true);
    expect(DEFAULT_LIMITS.maxStageRuns).toBe(200);
  });

  it.each([
    [{ maxStageRuns: 0 }, 'maxStageRuns must be a whole number from 1 on.'],
    [{ maxStageRuns: NaN }, 'maxStageRuns must be a whole number from 1 on.'],
    [{ maxStageRuns: Infinity }, 'maxStageRuns must be a whole number from 1 on.'],
    [{ maxStageRuns: '5' }, 'maxStageRuns must be a whole number from 1 on.'],
    [{ maxStageRuns: null }, 'maxStageRuns must be a whole number from 1 on.'],
    [{ maxOutputBytes: 1.5 }, 'maxOutputBytes must be a whole number from 1 on.'],
    [{ maxInputBytes: 2 ** 40 }, 'maxInputBytes must not be above 268435456.'],
    [{ nestingDepth: -1 }, 'nestingDepth must be a whole number from 0 on.'],
    [
      { maxSteps: 5 },
      'maxSteps is unknown; there are: maxStageRuns, maxOutputBytes, maxInputBytes, nestingDepth, startsPerMinute.',
    ],
    [
      JSON.parse('{"__proto__":1}') as object,
      '__proto__ is unknown; there are: maxStageRuns, maxOutputBytes, maxInputBytes, nestingDepth, startsPerMinute.',
    ],
    [null, 'limits must be an object with maxStageRuns, maxOutputBytes, maxInputBytes, nestingDepth, startsPerMinute.'],
    [7, 'limits must be an object with maxStageRuns, maxOutputBytes, maxInputBytes, nestingDepth, startsPerMinute.'],
  ])('FAULT C17: %j is refused', (input, problem) => {
    expect(problems(() => compileLimits(input as LimitsInput))).toEqual([problem]);
  });

  it('LIMIT-1: a definition may lower a limit, to the same value too, but not raise it', () => {
    const limits = compileLimits({ maxStageRuns: 100 });
    expect(lowerLimits(limits, { maxStageRuns: 50 }, 'invoices')).toEqual({ ...limits, maxStageRuns: 50 });
    expect(lowerLimits(limits, { maxStageRuns: 100 }, 'invoices')).toEqual(limits);
    expect(lowerLimits(limits)).toEqual(limits);
    expect(problems(() => lowerLimits(limits, { maxStageRuns: 101, nestingDepth: 4 }, 'invoices'))).toEqual([
      "maxStageRuns is 101, above the module's 100: a definition may only lower it.",
      "nestingDepth is 4, above the module's 3: a definition may only lower it.",
    ]);
    expect(thrown(() => lowerLimits(limits, { maxStageRuns: 101 }, 'Workflow invoices')).message).toContain(
      'Workflow invoices',
    );
  });

  it("LIMIT-3: starts are not limited unless told; a definition may set a rate of its own, and lower the module's", () => {
    expect(DEFAULT_LIMITS.startsPerMinute).toBeNull();
    expect(lowerLimits(DEFAULT_LIMITS, { startsPerMinute: 60 }).startsPerMinute).toBe(60);
    const rated = compileLimits({ startsPerMinute: 60 });
    expect(lowerLimits(rated, { startsPerMinute: 5 }).startsPerMinute).toBe(5);
    expect(lowerLimits(rated, {}).startsPerMinute).toBe(60);
    expect(problems(() => lowerLimits(rated, { startsPerMinute: 61 }))).toHaveLength(1);
    expect(problems(() => lowerLimits(rated, { startsPerMinute: null }))).toHaveLength(1);
    expect(problems(() => compileLimits({ startsPerMinute: 0 }))).toHaveLength(1);
  });
});

describe('the checks', () => {
  it('LIMIT-1: the limit itself is taken, one stage run more is STEP_LIMIT_EXCEEDED with limit and value', () => {
    expect(() => checkStageRuns(DEFAULT_LIMITS, 200, 'Run r')).not.toThrow();
    const error = thrown(() => checkStageRuns(DEFAULT_LIMITS, 201, 'Run r'));
    expect(error).toBeInstanceOf(LimitExceededError);
    expect(error).toMatchObject({ code: 'STEP_LIMIT_EXCEEDED', retryable: false });
    expect(error.message).toContain('Run r needs stage run 201, over limits.maxStageRuns = 200');
  });

  it('LIMIT-2: the limit itself is taken, one level more is NESTING_DEPTH_EXCEEDED with limit and value', () => {
    expect(() => checkNestingDepth(DEFAULT_LIMITS, 3, 'Run r')).not.toThrow();
    const error = thrown(() => checkNestingDepth(DEFAULT_LIMITS, 4, 'Run r'));
    expect(error).toMatchObject({ code: 'NESTING_DEPTH_EXCEEDED', retryable: false });
    expect(error.message).toContain('depth 4, over limits.nestingDepth = 3');
  });

  it('LIMIT-6: bytes are counted, not letters; over the limit it is INVALID_OUTPUT or INVALID_INPUT with limit and value', () => {
    const limits = compileLimits({ maxOutputBytes: 10, maxInputBytes: 10 });
    expect(() => checkOutputBytes(limits, '"12345678"', 'Stage a')).not.toThrow();
    expect(() => checkInputBytes(limits, '"12345678"', 'invoices')).not.toThrow();
    const output = thrown(() => checkOutputBytes(limits, '"ääääa"', 'Stage a'));
    expect(output).toBeInstanceOf(InvalidOutputError);
    expect(output.message).toContain('Stage a');
    expect(output.message).toContain('11 bytes as JSON, over limits.maxOutputBytes = 10');
    const input = thrown(() => checkInputBytes(limits, '"ääääa"', 'invoices'));
    expect(input).toBeInstanceOf(InvalidInputError);
    expect(input.message).toContain('11 bytes as JSON, over limits.maxInputBytes = 10');
  });
});
