import type { Caller } from '../../context/index.js';
import { cleanText, encodeJson } from '../../engine/codec/index.js';
import { readSafely } from '../../engine/codec/read-safely.js';
import type { AuditEntry, OwnerScope } from '../../engine/ports/index.js';

/** An actor is an identity, not a document. */
const MAX_ACTOR_BYTES = 4_096;
const LONGEST_SOURCE = 500;
const LONGEST_ID = 200;

/**
 * What the audit says of a caller: who, as JSON, and from where. An actor that JSON can't hold, or a large one, is kept by its `id` and
 * what it is: who asks must not decide by his shape whether that is kept.
 */
export function keptCaller(caller: Caller, scope: OwnerScope): Pick<AuditEntry, 'actor' | 'source'> {
  return { actor: keptActor(caller.actor), source: cleanText(sourceOf(caller, scope), LONGEST_SOURCE) };
}

function keptActor(actor: unknown): string | null {
  if (actor === undefined || actor === null) return null;
  try {
    return encodeJson(actor, { kind: 'input', what: 'the actor', maxBytes: MAX_ACTOR_BYTES });
  } catch {
    const id = readSafely(actor, 'id');
    const known = typeof id === 'string' ? { id: cleanText(id, LONGEST_ID) } : Number.isFinite(id) ? { id } : {};
    return encodeJson({ ...known, cut: kindOf(actor) });
  }
}

function kindOf(actor: unknown): string {
  const name = readSafely(readSafely(actor, 'constructor'), 'name');
  return typeof name === 'string' && name !== '' ? cleanText(name, LONGEST_ID) : typeof actor;
}

/** A guarded route, else the run whose stage called, else the service by which it was asked. */
function sourceOf({ request, runId }: Caller, scope: OwnerScope): string {
  if (runId !== null) return `run ${runId}`;
  if (request !== null) return request;
  return 'all' in scope ? 'operator' : 'service';
}
