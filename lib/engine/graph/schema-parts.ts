import { z } from 'zod';
import { InvalidDurationError } from '../../errors/index.js';
import { isPlainText } from '../codec/plain-text.js';
import { IDENTIFIER, IDENTIFIER_RULE, MAX_IDENTIFIER_LENGTH } from '../definition/identifier.js';
import { parseDurationMs } from '../time/index.js';
import type { ProblemCode } from './graph-problem.js';

/** What a rule of ours says beside its message, where its problem has a code of its own. */
export interface CodedIssue {
  readonly code: ProblemCode;
  readonly params: object;
}

const rule = { error: `must be ${IDENTIFIER_RULE}` };

export const identifier = z
  .string()
  .max(MAX_IDENTIFIER_LENGTH, { ...rule, abort: true })
  .regex(IDENTIFIER, rule);

/** A text for people. */
export const label = z.string().min(1).max(200);

/** `'30s'`, `'5 days'`, `'PT5M'`: in graphs durations are texts, so that nobody takes seconds for milliseconds. */
export const duration = durationText(0).describe("A duration: '30s', '5m', '7 days', 'PT5M'");

export const positiveDuration = durationText(1).describe("A duration above zero: '30s', '5m', '7 days', 'PT5M'");

/** CEL; checked where it stands, by what it may speak of there. */
export const expression = z.string().describe('An expression in CEL');

/** A value of which every text is an expression. Any JSON fits, so there is nothing to check but that it is there. */
export const mapping = z.unknown().describe('JSON of which every text is an expression in CEL');

/** A text that is stored, and compared as it was given. */
export const plainText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((text) => isPlainText(text, max), { error: 'must not be blank, nor hold U+0000 or half of a character' });

export const subjectReference = z.strictObject({
  type: plainText(100),
  id: expression,
});

/** Who: an expression that gives a list of ids, or the ids themselves. */
export const people = z
  .union([expression, z.array(plainText(200)).max(200)], {
    error: 'must be an expression that gives a list of ids, or a list of ids',
  })
  .describe('An expression that gives a list of ids, or the ids themselves');

export const retryPolicy = z.strictObject({
  maxAttempts: z.int().min(1).optional(),
  backoff: z
    .union(
      [
        duration,
        z.array(duration).min(1).max(100),
        z.strictObject({ base: duration, factor: z.number().optional(), max: duration.optional() }),
      ],
      { error: "must be a duration ('30s'), a list of durations, or { base, factor, max } with durations" },
    )
    .optional(),
  jitter: z.number().min(0).max(1).optional(),
});

function durationText(leastMs: number) {
  return z.string({ error: "must be a text with a unit: '5s', '30m', '7 days'" }).superRefine((text, context) => {
    const refuse = (params: object): void => {
      const coded: CodedIssue = { code: 'INVALID_DURATION', params };
      context.addIssue({
        code: 'custom',
        message: 'is no duration',
        params: coded as unknown as Record<string, unknown>,
      });
    };
    try {
      if (parseDurationMs(text, 'This') >= leastMs) return;
      refuse({ what: 'This', value: `'${text.slice(0, 40)}'`, reason: 'must be above zero' });
    } catch (error) {
      if (error instanceof InvalidDurationError) refuse(error.params);
      else throw error;
    }
  });
}
