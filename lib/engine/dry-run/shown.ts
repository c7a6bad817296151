import { byteLength } from '../codec/json.js';

const LONGEST = 120;

/** A value in a sentence: short ones as JSON, of long ones the beginning. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}… (${byteLength(text)} bytes)`;
}

/** Names in a sentence. */
export function named(names: readonly string[], word: 'and' | 'or' = 'and'): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`;
}
