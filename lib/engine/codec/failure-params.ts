import { cleanText } from './clean-text.js';
import { decodeJson, encodeJson } from './json.js';
import { readSafely } from './read-safely.js';

const MAX_PARAMS = 20;
const MAX_TEXT_LENGTH = 500;
const MAX_VALUE_BYTES = 4_000;

/** The parameters of an error as plain bounded data; what is too large, or no JSON, is left out one by one. */
export function failureParams(params: unknown): Record<string, unknown> | undefined {
  const kept: [string, unknown][] = [];
  for (const key of ownKeys(params).slice(0, MAX_PARAMS)) {
    const value = plain(readSafely(params, key));
    if (value !== undefined) kept.push([cleanText(key, 100), value]);
  }
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function plain(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value, MAX_TEXT_LENGTH);
  if (value === undefined) return undefined;
  try {
    return decodeJson(encodeJson(value, { maxBytes: MAX_VALUE_BYTES }));
  } catch {
    return undefined;
  }
}

function ownKeys(value: unknown): string[] {
  try {
    return typeof value === 'object' && value !== null ? Object.keys(value) : [];
  } catch {
    return [];
  }
}
