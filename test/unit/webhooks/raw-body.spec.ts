import { once } from 'node:events';
import { Readable } from 'node:stream';
import { rawBodyOf, type WebhookRequest } from '../../../lib/webhooks/raw-body.js';

/** A request whose body comes as it is pushed. */
function request() {
  const stream = new Readable({ read: () => undefined });
  return { stream, read: (given: WebhookRequest = Object.assign(stream, { headers: {} })) => rawBodyOf(given, 10) };
}

describe('the raw body', () => {
  it('TRIG-2: is what came, of Express and of Fastify', async () => {
    for (const wrap of [undefined, (raw: Readable) => ({ headers: {}, raw })]) {
      const { stream, read } = request();
      const body = read(wrap?.(stream));
      for (const chunk of ['{"a"', ':1}', null]) stream.push(chunk);
      expect(await body).toEqual({ kind: 'read', body: Buffer.from('{"a":1}') });
      expect(stream.listenerCount('data') + stream.listenerCount('error')).toBe(0);
    }
  });

  it('TRIG-2: of a caller who goes in the middle of it, or went before it was looked at, is given up', async () => {
    const { stream, read } = request();
    const body = read();
    stream.push('{"a"');
    stream.destroy(new Error('aborted'));
    expect(await body).toEqual({ kind: 'gone' });
    const late = request();
    late.stream.destroy();
    await once(late.stream, 'close');
    expect(await late.read()).toEqual({ kind: 'gone' });
  });
});
