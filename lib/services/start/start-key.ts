import type { StartKey } from '../../engine/ports/index.js';
import { canonicalJson } from '../../engine/codec/canonical-json.js';
import { digest } from '../../engine/codec/digest.js';

export interface StartKeyParts {
  readonly ownerId: string | null;
  readonly definitionId: string;
  readonly key: string;
  /** As it is stored. */
  readonly input: unknown;
  readonly ttlMs: number;
}

/**
 * A caller's key as it is kept: digests only. Scoped by owner and definition, so that two tenants, or two workflows, can
 * use the same key (fault A15); the input by its canonical form, so that the order of its keys does not matter (K29).
 */
export function startKey({ ownerId, definitionId, key, input, ttlMs }: StartKeyParts): StartKey {
  return {
    digest: digest(['start', ownerId, definitionId, key]),
    inputDigest: digest([canonicalJson(input)]),
    ttlMs,
  };
}
