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

  it('FAULT H15: of a text that a parser decoded is what it was, where that can be known', async () => {
    const { stream } = request();
    stream.push(null);
    stream.resume();
    await once(stream, 'end');
    const text = (type: string, body: string) =>
      rawBodyOf({ headers: { 'content-type': type }, body, raw: stream }, 10);
    expect(await text('text/plain', '\ufeffé')).toEqual({ kind: 'read', body: Buffer.from('\ufeffé') });
    expect(await text('text/plain; charset=UTF-8', 'é')).toEqual({ kind: 'read', body: Buffer.from('é') });
    expect(await text('text/plain', 'éééééé')).toEqual({ kind: 'too large' });
    for (const [type, body] of [
      ['text/plain', 'a\ufffd'],
      ['text/plain; charset=latin1', 'é'],
      ['application/json', 'a'],
    ] as const)
      expect(await text(type, body)).toEqual({ kind: 'parsed' });
  });
});
