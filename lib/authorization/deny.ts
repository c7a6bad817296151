import type { PolicyAnswer } from '../interfaces/index.js';

/**
 * What a policy returns to say no and why. The reason is stored with the failed stage, and shown to whoever reads the run.
 *
 * @example deny('This team is suspended.') // { allowed: false, reason: 'This team is suspended.' }
 * @publicApi
 */
export function deny(reason: string): PolicyAnswer {
  return { allowed: false, reason };
}
