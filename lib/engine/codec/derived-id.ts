import { createHash } from 'node:crypto';

/**
 * An id (UUID, version 8) that the same parts always yield. It begins with the instant of `base`, a UUIDv7, then counts: ids of
 * one base stand in the order of their numbers.
 *
 * @param number below 2^30
 * @example derivedId(stageRunId, 'line', 3) === derivedId(stageRunId, 'line', 3)
 */
export function derivedId(base: string, kind: string, number: number): string {
  const hash = sha256(`${base} ${kind} ${number}`);
  const instant = base.replaceAll('-', '').slice(0, 12);
  const count = (number & 0x3fffffff).toString(16).padStart(8, '0');
  // The variant's two bits stand before the count's thirty.
  const variant = ((parseInt(count[0]!, 16) & 0x3) | 0x8).toString(16);
  const hex = `${instant}8${sha256(base).slice(0, 3)}${variant}${count.slice(1)}${hash.slice(0, 8)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');
