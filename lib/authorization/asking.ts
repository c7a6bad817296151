import { readSafely } from '../engine/codec/read-safely.js';
import { thrownMessage, thrownName } from '../engine/codec/thrown-text.js';
import { formatDuration } from '../engine/time/index.js';
import { settle, type TimeLimits } from './settle.js';
import { verdictOf, type Verdict } from './verdict.js';

export interface AskingParts {
  readonly timeoutMs: number;
  readonly limits: TimeLimits;
  readonly log: { error(message: string, stack?: string): void };
}

const MAX_LINE = 1_000;

/**
 * Asks a policy or an authorizer and fails closed (AUTH-3): whoever throws, comes too late or gives no answer has denied. The
 * reason says which of these it was; what was thrown is for the log alone, since the reason is stored and shown.
 */
export class Asking {
  constructor(private readonly parts: AskingParts) {}

  /** `who` is a policy's or an authorizer's role, `where` what the log names besides. Never rejects. */
  async ask(who: string, where: string, call: () => unknown): Promise<Verdict> {
    const { timeoutMs, limits, log } = this.parts;
    const settled = await settle(call, timeoutMs, limits);
    switch (settled.kind) {
      case 'value': {
        const verdict = verdictOf(settled.value);
        if (verdict) return verdict;
        log.error(`${where} was denied: ${who} returned ${kindOf(settled.value)}, which is no answer.`);
        return { allowed: false, reason: `${who} gave no answer` };
      }
      case 'empty':
        log.error(`${where} was denied: ${who} returned an Observable that completed without a value.`);
        return { allowed: false, reason: `${who} gave no answer` };
      case 'threw': {
        const { error } = settled;
        const stack = readSafely(error, 'stack');
        const line = `${where} was denied: ${who} threw ${thrownName(error)}: ${thrownMessage(error).slice(0, MAX_LINE)}`;
        log.error(line, typeof stack === 'string' ? stack : undefined);
        return { allowed: false, reason: `${who} threw an error` };
      }
      case 'late':
        log.error(`${where} was denied: ${who} did not answer within ${formatDuration(timeoutMs)}.`);
        return { allowed: false, reason: `${who} did not answer within ${formatDuration(timeoutMs)}` };
    }
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'object') return 'an object without a boolean `allowed`';
  return value === undefined ? 'undefined' : `a ${typeof value}`;
}
