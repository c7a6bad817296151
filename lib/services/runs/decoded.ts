import { decodeJson } from '../../engine/codec/json.js';

/** `absent` stands for "not stored"; a stored `null` is a value (fault A13). */
export function decode<T>(text: string | null, absent: T, what: string): unknown {
  return text === null ? absent : decodeJson(text, what);
}

export function toDate(instant: string | null): Date | null {
  return instant === null ? null : new Date(instant);
}
