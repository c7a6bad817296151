import { isStoredDate, isSubject, SUBJECT_RULE } from '../../engine/codec/index.js';
import { IDENTIFIER_RULE, isIdentifier } from '../../engine/definition/identifier.js';
import type { SubjectName } from '../../engine/ports/index.js';
import { parseDurationMs } from '../../engine/time/index.js';
import { InvalidOptionsError, type OptionProblem, WorkflowError } from '../../errors/index.js';
import type { StartOptions } from '../../interfaces/index.js';

/** What of `StartOptions` a new run carries, checked. */
export interface StartSettings {
  readonly delayMs: number;
  /** ISO 8601, or null. */
  readonly startAt: string | null;
  readonly priority: number;
  readonly queue: string | null;
  readonly idempotencyKey: string | null;
  readonly subject: SubjectName | null;
}

const KNOWN = new Set([
  'idempotencyKey',
  'delay',
  'startAt',
  'priority',
  'queue',
  'subject',
  'owner',
  'actor',
  'manager',
]);
/** Keys are stored as digests, so the length only guards against a payload passed by mistake. */
const LONGEST_KEY = 1_000;
const INT4 = 2 ** 31;

/**
 * Checks all options of a start and says all that is wrong at once.
 *
 * @throws InvalidOptionsError
 */
export function readStartOptions(options: StartOptions, where: string): StartSettings {
  const problems: OptionProblem[] = [];
  const complain = (path: string, message: string): void => void problems.push({ path, message });

  for (const name of Object.keys(options))
    if (!KNOWN.has(name)) complain(name, `is not an option; there are ${[...KNOWN].join(', ')}`);
  const { delay, startAt, priority = 0, queue, subject, idempotencyKey } = options;
  if (delay !== undefined && startAt !== undefined) complain('delay', 'stands beside startAt; give one of them');
  if (startAt !== undefined && !isStoredDate(startAt))
    complain('startAt', 'must be a valid Date, in the years 1 to 9999');
  if (!Number.isInteger(priority) || Math.abs(priority) >= INT4) complain('priority', 'must be an integer of 32 bits');
  if (queue !== undefined && !isIdentifier(queue)) complain('queue', `must be ${IDENTIFIER_RULE}`);
  if (idempotencyKey !== undefined && !isKey(idempotencyKey)) {
    complain('idempotencyKey', `must be a text of 1 to ${LONGEST_KEY} characters`);
  }
  // One that is named and undefined is a mistake: the run would be about nothing, and checked against nobody (fault A18).
  if ('subject' in options && !isSubject(subject)) complain('subject', SUBJECT_RULE);
  const delayMs = delay === undefined ? 0 : readDelay(delay, complain);
  if (problems.length > 0) throw new InvalidOptionsError({ where, problems });
  return {
    delayMs,
    startAt: startAt?.toISOString() ?? null,
    priority,
    queue: queue ?? null,
    idempotencyKey: idempotencyKey ?? null,
    subject: subject ? { type: subject.type, id: subject.id } : null,
  };
}

function readDelay(
  delay: NonNullable<StartOptions['delay']>,
  complain: (path: string, message: string) => void,
): number {
  try {
    return parseDurationMs(delay, 'delay');
  } catch (error) {
    if (!WorkflowError.is(error)) throw error;
    complain('delay', error.message);
    return 0;
  }
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_KEY;
}
