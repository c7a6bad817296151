/**
 * LIMIT-3: how many of the starts that were counted last are within the rate, the earlier ones having come first.
 *
 * @param counted starts of the minute, these included
 */
export function roomFor(starts: number, counted: number, perMinute: number): number {
  return Math.min(starts, Math.max(0, perMinute - (counted - starts)));
}
