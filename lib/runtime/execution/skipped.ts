import type { Skipped } from '../../interfaces/index.js';

/** `Symbol.for`: a stage may have been built against another copy of the package. */
const SKIPPED = Symbol.for('nestjs-workflow-engine:skipped');

/** What `ctx.skip(reason)` returns (GRP-4). */
export function skipped(reason: string): Skipped {
  return { [SKIPPED]: true, reason: String(reason) } as unknown as Skipped;
}

export function isSkipped(value: unknown): value is Skipped {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, SKIPPED);
}
