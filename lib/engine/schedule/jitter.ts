import { digest } from '../codec/digest.js';

/**
 * By how many milliseconds the start of an instant is put off, below `most`: the same for the same trigger and instant, whoever asks,
 * and spread evenly over triggers and instants.
 */
export function jitterMs(triggerId: string, instant: number, most: number): number {
  if (most === 0) return 0;
  return digest(['jitter', triggerId, String(instant)]).readUInt32BE(0) % most;
}
