import { canonicalJson } from '../codec/canonical-json.js';
import { decodeJson, encodeJson } from '../codec/json.js';
import { thrownMessage } from '../codec/thrown-text.js';
import type { Complaints } from './complaints.js';
import type { ParsableSchema, ParseResult } from './parsable-schema.js';

/** A node's config, ready: what bodies see, and what of it counts for the fingerprint. */
export interface CheckedConfig {
  readonly value: unknown;
  /** JSON of the parsed config; of the given one where the schema made something JSON can't hold. */
  readonly canonical: string;
}

/** Parses a node's config once, at boot, async refinements too (DEF-5). Undefined with a complaint where it does not fit. */
export async function checkConfig(
  given: unknown,
  schema: ParsableSchema | null,
  place: string,
  complaints: Complaints,
): Promise<CheckedConfig | undefined> {
  if (schema === null) {
    if (given === undefined) return { value: undefined, canonical: 'null' };
    complaints.add(
      place,
      'config is given, but the stage declares no config schema.',
      'Add `config` to its @Stage, or leave it out here.',
    );
    return undefined;
  }
  try {
    const parsed = await parse(given, schema);
    if (parsed.success) return freeze(parsed.data, given, place, complaints);
    for (const { path, message } of parsed.error.issues) complaints.add(place, `config${pathText(path)}: ${message}`);
  } catch (error) {
    complaints.add(place, `config could not be checked: its schema threw "${thrownMessage(error)}".`);
  }
  return undefined;
}

/** Config left out is no config, or an empty one whose fields have their defaults: whichever the schema takes. */
async function parse(given: unknown, schema: ParsableSchema): Promise<ParseResult> {
  const parsed = await schema.safeParseAsync(given);
  return parsed.success || given !== undefined ? parsed : await schema.safeParseAsync({});
}

function freeze(value: unknown, given: unknown, place: string, complaints: Complaints): CheckedConfig | undefined {
  if (value === undefined) return { value, canonical: 'null' };
  try {
    // A copy: the host's own objects are not ours to freeze, and every attempt of every run shares this one.
    return { value: freezeDeep(decodeJson(encodeJson(value))), canonical: canonicalJson(value) };
  } catch {
    const canonical = complaints.attempt(`${place}, config`, () => canonicalJson(given));
    return canonical === undefined ? undefined : { value, canonical };
  }
}

function freezeDeep(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  Object.values(value).forEach(freezeDeep);
  return Object.freeze(value);
}

function pathText(path: unknown): string {
  if (!Array.isArray(path) || path.length === 0) return '';
  return `.${path.map(String).join('.')}`;
}
