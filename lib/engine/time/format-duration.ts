const STEPS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/**
 * A duration as a person reads it, in its two largest units; for messages and logs, never parsed again.
 *
 * @example formatDuration(5_400_000) // '1 h 30 min'
 */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return 'no limit';
  let rest = Math.round(Math.abs(ms));
  const parts: string[] = [];
  const largest = STEPS.findIndex(([, length]) => rest >= length);
  if (largest === -1) return '0 ms';
  for (const [name, length] of STEPS.slice(largest, largest + 2)) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) parts.push(`${count} ${name}`);
  }
  return (ms < 0 ? '-' : '') + parts.join(' ');
}
