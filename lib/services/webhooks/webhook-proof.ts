import { createHash, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** What a caller shows, beside the body. */
export interface ShownProof {
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body, byte for byte; it is UTF-8. */
  readonly body: string;
}

export interface ProofClock {
  /** Milliseconds since 1970, of the engine's clock. */
  readonly now: number;
  readonly toleranceMs: number;
}

/**
 * Whether one of the secrets has signed the message as Standard Webhooks does, within the window. Null: it has; else why it is not let in.
 * Every signature is compared with every secret, in constant time.
 *
 * @param onUnusable of a secret that is none: it lets nobody in
 */
export function signatureProblem(
  { headers, body }: ShownProof,
  secrets: readonly string[],
  { now, toleranceMs }: ProofClock,
  onUnusable: (error: unknown) => void,
): string | null {
  const id = headers['webhook-id'];
  const time = headers['webhook-timestamp'];
  const shown = headers['webhook-signature'];
  if (!id || !time || !shown) return 'it needs webhook-id, webhook-timestamp and webhook-signature';
  if (!/^\d{1,12}$/.test(time)) return 'webhook-timestamp must be seconds since 1970';
  const at = Number(time) * 1_000;
  if (Math.abs(now - at) > toleranceMs) return 'webhook-timestamp is outside of the time in which a message is taken';
  const signatures = shown.split(' ').slice(0, MOST_SIGNATURES);
  let holds = false;
  for (const secret of secrets) {
    try {
      const expected = new Webhook(secret).sign(id, new Date(at), body);
      for (const signature of signatures) holds = same(signature, expected) || holds;
    } catch (error) {
      onUnusable(error);
    }
  }
  return holds ? null : 'webhook-signature is not of this message';
}

const MOST_SIGNATURES = 10;

/** Whether the token is one of the secrets. `Authorization: Bearer …` or `x-workflow-token`. */
export function tokenProblem({ headers }: ShownProof, secrets: readonly string[]): string | null {
  const shown = headers['x-workflow-token'] ?? /^bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1];
  if (!shown) return 'it needs a token: Authorization: Bearer, or x-workflow-token';
  let holds = false;
  for (const secret of secrets) holds = same(shown.trim(), secret) || holds;
  return holds ? null : 'the token is not known';
}

/** In the same time whatever they are: their digests have one length. */
function same(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();
  return timingSafeEqual(digest(a), digest(b));
}
