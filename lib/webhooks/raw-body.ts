import type { Readable } from 'node:stream';

/** A request of whichever HTTP adapter, told by its shape: Express's is the stream, Fastify's has it in `raw`. */
export interface WebhookRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: unknown;
  readonly rawBody?: unknown;
  readonly raw?: Readable;
}

export type RawBody =
  | { readonly kind: 'read'; readonly body: Buffer }
  | { readonly kind: 'too large' }
  /** The caller went before all of it was there: nobody is left to be answered. */
  | { readonly kind: 'gone' }
  /** Only what a parser made of it is left: no signature can be checked on that. */
  | { readonly kind: 'parsed' }
  /** It was packed on its way, and is signed unpacked. */
  | { readonly kind: 'encoded' };

/**
 * The body of a request, byte for byte (fault H15): what Nest kept with `rawBody: true`, what a raw parser left, or what nobody has read
 * yet. Reading stops where there is too much.
 */
export async function rawBodyOf(request: WebhookRequest, maxBytes: number): Promise<RawBody> {
  const { rawBody, headers } = request;
  const whole = Buffer.isBuffer(rawBody) ? rawBody : bytesOf(request);
  if (whole !== undefined) return whole.length > maxBytes ? { kind: 'too large' } : { kind: 'read', body: whole };
  if (Number(headers['content-length'] ?? 0) > maxBytes) return { kind: 'too large' };
  const stream = request.raw ?? (request as unknown as Readable);
  // While guards of the host were asked, say: a stream that is closed already tells of nothing any more.
  if (stream.destroyed && !stream.readableEnded) return { kind: 'gone' };
  if (stream.readableDidRead || stream.readableEnded) return { kind: 'parsed' };
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') return { kind: 'encoded' };
  return readAll(stream, maxBytes);
}

/** Of a text Fastify keeps no raw body; decoded from UTF-8, it says itself which bytes it was. */
function bytesOf({ body, headers }: WebhookRequest): Buffer | undefined {
  if (Buffer.isBuffer(body)) return body;
  const isText = typeof body === 'string' && UTF8_TEXT.test(String(headers['content-type']));
  // Bytes that are no UTF-8 have become this sign, and nobody knows any more which they were.
  return isText && !body.includes('\ufffd') ? Buffer.from(body) : undefined;
}

const UTF8_TEXT = /^text\/[^;]+(;\s*charset="?utf-8"?\s*)?$/i;

function readAll(stream: Readable, maxBytes: number): Promise<RawBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (settle: () => void): void => {
      stream.off('data', take).off('end', done).off('error', gone).off('close', gone);
      settle();
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= maxBytes) return;
      stream.pause();
      end(() => resolve({ kind: 'too large' }));
    };
    const done = (): void => end(() => resolve({ kind: 'read', body: Buffer.concat(chunks) }));
    const gone = (): void => end(() => resolve({ kind: 'gone' }));
    stream.on('data', take).on('end', done).on('error', gone).on('close', gone);
  });
}
