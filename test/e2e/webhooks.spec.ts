import type { DynamicModule, INestApplication, Type } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { TestingModule } from '@nestjs/testing';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DefinitionsService, ShuttingDownError, WorkflowService, WorkflowWebhooksModule } from 'nestjs-workflow-engine';
import { WorkflowTester } from 'nestjs-workflow-engine/testing';
import { Webhook } from 'standardwebhooks';
import { WORKFLOW_RUNTIME, type WorkflowRuntime } from '../../lib/composition/workflow-runtime.js';
import { triggersOf } from '../../lib/engine/graph/index.js';
import { newId } from '../../lib/testing/conformance/builders.js';
import { EXPENSES, expenseGraph } from './expenses.js';

const SECRET = `whsec_${Buffer.from('a secret of thirty-two letters..').toString('base64')}`;
const OLD = `whsec_${Buffer.from('the secret that it replaces.....').toString('base64')}`;
const secrets: { current: string | string[] | null } = { current: SECRET };

type CreateApp = (module: TestingModule) => INestApplication;

const express =
  (nest: object): CreateApp =>
  (module) =>
    module.createNestApplication(nest);

/** Nest keeps the raw body of JSON and forms; of what else webhooks may be sent the bytes are left, as docs/triggers.md says. */
function fastify(module: TestingModule): INestApplication {
  const app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { rawBody: true });
  const types = ['application/xml', 'application/octet-stream'];
  app
    .getHttpAdapter()
    .getInstance()
    .addContentTypeParser(types, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  return app;
}

function fastifyWithoutParsers(module: TestingModule): INestApplication {
  const adapter = new FastifyAdapter();
  adapter.getInstance().removeAllContentTypeParsers();
  adapter.getInstance().addContentTypeParser('*', (_request, _body, done) => done(null));
  return module.createNestApplication(adapter, { bodyParser: false });
}

describe.each<[string, CreateApp]>([
  ['Express and rawBody: true', express({ rawBody: true })],
  ['Express and no body parser', express({ bodyParser: false })],
  ['Fastify and rawBody: true', fastify],
  ['Fastify and no body parser', fastifyWithoutParsers],
])('webhooks, with %s', (_case, createApp) => {
  let tester: WorkflowTester;
  let base: string;
  let hooks: Record<string, string>;

  beforeAll(async () => {
    tester = await openTester(createApp);
    base = await addressOf(tester);
    hooks = await publish(tester, [
      { id: 'signed', type: 'webhook', auth: 'signature' },
      { id: 'token', type: 'webhook', auth: 'token' },
      { id: 'about', type: 'webhook', auth: 'token', subject: { type: 'order', id: 'event.order' } },
      {
        id: 'keyed',
        type: 'webhook',
        auth: 'token',
        key: 'string(event.amount)',
        input: { amount: 'event.amount + 1' },
      },
    ]);
  });
  afterAll(() => tester.close());
  beforeEach(() => {
    secrets.current = SECRET;
  });

  let count = 0;
  const now = async (): Promise<Date> => tester.now();

  async function signed(
    body: string,
    given: { id?: string; at?: Date; secret?: string; signedBody?: string; type?: string } = {},
  ) {
    const {
      id = `msg-${++count}`,
      at = await now(),
      secret = SECRET,
      signedBody = body,
      type = 'application/json',
    } = given;
    const headers = {
      'content-type': type,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, at, signedBody),
    };
    return call('signed', body, headers);
  }

  async function call(hook: string, body: string | Buffer, headers: Record<string, string>) {
    const response = await fetch(`${base}/workflow-hooks/${hooks[hook] ?? hook}`, { method: 'POST', body, headers });
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text) as Record<string, unknown>, headers: response.headers };
  }

  const tokened = (hook: string, body: string | Buffer, given: Record<string, string> = {}) =>
    call(hook, body, { 'content-type': 'application/json', authorization: `Bearer ${SECRET}`, ...given });

  it('TRIG-2: a message that is signed starts a run, once, whatever its spaces', async () => {
    const body = '{ "amount" : 1.0,\n "z":"\\u00e9é" }';
    const first = await signed(body, { id: 'once' });
    expect(first).toMatchObject({ status: 202, body: { run: expect.any(String), created: true } });
    expect(await signed(body, { id: 'once' })).toMatchObject({
      status: 202,
      body: { run: first.body.run, created: false },
    });
    expect(
      await tester.app
        .get(WorkflowService)
        .asOperator()
        .get(first.body.run as string),
    ).toMatchObject({
      definition: 'expense-approval',
      input: { amount: 1, z: 'éé' },
    });
  });

  it('TRIG-2: the same webhook-id with another body is 409, though it means the same', async () => {
    await signed('{"amount":1}', { id: 'twice' });
    expect(await signed('{"amount": 1}', { id: 'twice' })).toMatchObject({
      status: 409,
      body: { code: 'IDEMPOTENCY_CONFLICT' },
    });
  });

  it('TRIG-2: a wrong, missing or old signature is 401, and nothing is started', async () => {
    const body = '{"amount":1}';
    expect((await signed(body, { secret: OLD })).status).toBe(401);
    expect((await signed(body, { signedBody: '{"amount":2}' })).status).toBe(401);
    expect((await signed(body, { at: new Date((await now()).getTime() - 301_000) })).status).toBe(401);
    expect((await signed(body, { at: new Date((await now()).getTime() + 302_000) })).status).toBe(401);
    expect((await call('signed', body, { 'content-type': 'application/json' })).status).toBe(401);
    expect((await tokened('signed', body)).status).toBe(401);
    expect((await signed(body, { at: new Date((await now()).getTime() - 290_000) })).status).toBe(202);
  });

  it('TRIG-2: several secrets are a rotation; none lets nobody in', async () => {
    secrets.current = [OLD, SECRET];
    expect((await signed('{"amount":1}')).status).toBe(202);
    expect((await signed('{"amount":1}', { secret: OLD })).status).toBe(202);
    for (const none of [null, '', [], ['', 'no base64 !']]) {
      secrets.current = none;
      expect((await signed('{"amount":1}')).status).toBe(401);
    }
    secrets.current = null;
    expect((await tokened('token', '{"amount":1}', { authorization: 'Bearer ' })).status).toBe(401);
  });

  it('TRIG-2: a token lets in by either header; without webhook-id each call is a run', async () => {
    const one = await tokened('token', '{"amount":1}');
    const two = await tokened('token', '{"amount":1}', { authorization: '', 'x-workflow-token': SECRET });
    expect([one.status, two.status, one.body.run === two.body.run]).toEqual([202, 202, false]);
    const nameless = (amount: number) => tokened('token', JSON.stringify({ amount }), { 'webhook-id': '' });
    expect([(await nameless(1)).body.created, (await nameless(2)).body.created]).toEqual([true, true]);
    expect((await tokened('token', '{"amount":1}', { authorization: 'Bearer wrong' })).status).toBe(401);
  });

  it('TRIG-2: the graph’s own key makes one run of many messages', async () => {
    const one = await tokened('keyed', '{"amount":7}', { 'webhook-id': 'k1' });
    const two = await tokened('keyed', '{"amount":7}', { 'webhook-id': 'k2' });
    expect(two).toMatchObject({ status: 202, body: { run: one.body.run, created: false } });
  });

  it('TRIG-2: a webhook that is unknown, or retired, is 404, told alike', async () => {
    const unknown = await tokened('01900000-0000-7000-8000-000000000000', '{}');
    expect(unknown).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect((await tokened('no-uuid', '{}')).body).toEqual(unknown.body);
    const [old] = Object.values(await publish(tester, [{ id: 'old', type: 'webhook', auth: 'token' }], 'short-lived'));
    await tester.app.get(DefinitionsService).retire('short-lived');
    expect(await tokened(old!, '{}')).toMatchObject({ status: 404, body: unknown.body });
  });

  it('TRIG-2: a body that is no JSON, or not the graph’s input, is 400 and says where', async () => {
    expect(await signed('{"amount":}')).toMatchObject({ status: 400 });
    expect(await signed('{"amount":"much"}')).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT', issues: [expect.objectContaining({ path: ['amount'] })] },
    });
    expect(await tokened('keyed', '{}')).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
  });

  it('TRIG-2: a body that names what no run can be about is 400', async () => {
    for (const order of ['', 'a\0b'])
      expect(await tokened('about', JSON.stringify({ amount: 1, order }))).toMatchObject({
        status: 400,
        body: { code: 'INVALID_INPUT', message: expect.stringContaining('subject') },
      });
    expect((await tokened('about', '{"amount":1,"order":"7"}')).status).toBe(202);
  });

  it('FAULT H15: bytes that are no text are 415, larger ones than allowed 413', async () => {
    const octets = { 'content-type': 'application/octet-stream' };
    const answered = (await tokened('token', Buffer.from([0xff, 0xfe, 0, 1, 2, 3]), octets)).status;
    expect(answered).toBe(415);
    const large = JSON.stringify({ amount: 1, text: 'x'.repeat(3_000) });
    expect((await signed(large)).status).toBe(413);
  });

  it('FAULT H15: XML, forms and texts are signed as they came, and are texts to the graph', async () => {
    for (const [type, body] of [
      ['text/plain', '\ufeffa  “b”\r\n'],
      ['text/plain; charset=utf-8', 'é'],
      ['application/xml', '<a  b="1"/>'],
      ['application/x-www-form-urlencoded', 'amount=1&x=%20+'],
    ] as const) {
      // Let in by the signature, then refused by the graph, which wants an object.
      expect(await signed(body, { type })).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
    }
  });

  it('TRIG-2: 413 comes before the rest of the body does', async () => {
    const status = await new Promise((resolve, reject) => {
      const request = httpRequest(`${base}/workflow-hooks/${hooks.token}`, {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream', 'content-length': '5000000' },
      });
      request.on('response', (response) => resolve(response.statusCode)).on('error', reject);
      // The first bytes of many, and no more.
      request.write(Buffer.alloc(10, 'a'));
    });
    expect(status).toBe(413);
  });
});

describe('webhooks', () => {
  it('LIMIT-3: above the rate of starts they are 429, with when to come again', async () => {
    secrets.current = SECRET;
    const tester = await openTester(express({ rawBody: true }));
    try {
      const base = await addressOf(tester);
      const { hook } = await publish(tester, [{ id: 'hook', type: 'webhook', auth: 'token' }], 'rated', {
        limits: { startsPerMinute: 1 },
      });
      const { store } = await tester.app.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false }).ready();
      store.clockOffsetMs += 60_000 - ((await tester.now()).getTime() % 60_000);
      const call = (id: string) =>
        fetch(`${base}/workflow-hooks/${hook}`, {
          method: 'POST',
          body: '{"amount":1}',
          headers: { 'content-type': 'application/json', 'x-workflow-token': SECRET, 'webhook-id': id },
        });
      expect((await call('one')).status).toBe(202);
      // Known already: no start.
      expect((await call('one')).status).toBe(202);
      const refused = await call('two');
      expect(refused.status).toBe(429);
      const after = Number(refused.headers.get('retry-after'));
      expect(after > 0 && after <= 60).toBe(true);
      // Who comes again when he was told to is let in.
      store.clockOffsetMs += after * 1_000;
      const again = await call('two');
      expect([again.status, await again.json()]).toMatchObject([202, { created: true }]);
    } finally {
      await tester.close();
    }
  });

  it('TRIG-2: a run that was started is 202, also where that cannot be counted: who has no id to repeat would start another', async () => {
    secrets.current = SECRET;
    const tester = await openTester(express({ rawBody: true }));
    try {
      const base = await addressOf(tester);
      const { hook } = await publish(tester, [{ id: 'hook', type: 'webhook', auth: 'token' }]);
      const { store } = await tester.app.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false }).ready();
      jest.spyOn(store, 'noteTrigger').mockRejectedValueOnce(new Error('away'));
      const response = await fetch(`${base}/workflow-hooks/${hook}`, {
        method: 'POST',
        body: '{"amount":1}',
        headers: { 'content-type': 'application/json', 'x-workflow-token': SECRET },
      });
      expect([response.status, await response.json()]).toMatchObject([202, { created: true }]);
    } finally {
      await tester.close();
    }
  });

  it('TRIG-2: while the process shuts down it is 503, with when to come again, and nothing is noted', async () => {
    secrets.current = SECRET;
    const tester = await openTester(express({ rawBody: true }));
    try {
      const base = await addressOf(tester);
      const { hook } = await publish(tester, [{ id: 'hook', type: 'webhook', auth: 'token' }]);
      const runtime = tester.app.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false });
      const engine = await runtime.ready();
      const closing = new ShuttingDownError({ what: 'A call' });
      const ready = jest.spyOn(runtime, 'ready');
      const call = async () => {
        const response = await fetch(`${base}/workflow-hooks/${hook}`, {
          method: 'POST',
          body: '{"amount":1}',
          headers: { 'content-type': 'application/json', 'x-workflow-token': SECRET, 'webhook-id': 'one' },
        });
        const { code } = (await response.json()) as { code?: string };
        return [response.status, code, response.headers.get('retry-after')];
      };
      ready.mockRejectedValueOnce(closing);
      expect(await call()).toEqual([503, 'SHUTTING_DOWN', '5']);
      // Between the door and the start.
      ready.mockResolvedValueOnce(engine).mockRejectedValueOnce(closing);
      expect(await call()).toEqual([503, 'SHUTTING_DOWN', '5']);
      expect(await tester.app.get(DefinitionsService).triggers('expense-approval')).toMatchObject([
        { lastOutcome: null, passedOver: 0 },
      ]);
      expect(await call()).toEqual([202, undefined, null]);
    } finally {
      jest.restoreAllMocks();
      await tester.close();
    }
  });

  it('TRIG-2: what can never be started so is 500 with its code, and is noted', async () => {
    secrets.current = SECRET;
    const tester = await openTester(express({ rawBody: true }));
    try {
      const base = await addressOf(tester);
      await publish(tester, [], 'behalf', { actor: 'on_behalf_of' });
      const { store } = await tester.app.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false }).ready();
      const triggers = triggersOf({ triggers: [{ id: 'hook', type: 'webhook', auth: 'token' }] }, newId);
      await store.putTriggers({ ownerId: null, definitionId: 'behalf', definitionVersion: 1, triggers });
      const response = await fetch(`${base}/workflow-hooks/${triggers[0]!.id}`, {
        method: 'POST',
        body: '{"amount":1}',
        headers: { 'content-type': 'application/json', 'x-workflow-token': SECRET },
      });
      expect([response.status, await response.json()]).toMatchObject([500, { code: 'MISSING_TRIGGERING_USER' }]);
      expect(await tester.app.get(DefinitionsService).triggers('behalf')).toMatchObject([
        { lastOutcome: 'failed', lastError: expect.stringContaining('on behalf'), passedOver: 1 },
      ]);
    } finally {
      await tester.close();
    }
  });

  it('TRIG-2: a body is 400 whatever the complaint about it quotes, and that is kept', async () => {
    const tester = await openTester(express({ rawBody: true }));
    try {
      const base = await addressOf(tester);
      const input = { type: 'object', properties: { amount: { type: 'number' } }, additionalProperties: false };
      const { hook } = await publish(tester, [{ id: 'hook', type: 'webhook', auth: 'token' }], 'strict', {}, { input });
      secrets.current = SECRET;
      const response = await fetch(`${base}/workflow-hooks/${hook}`, {
        method: 'POST',
        body: JSON.stringify({ amount: 1, '\0': 1 }),
        headers: { 'content-type': 'application/json', 'x-workflow-token': SECRET },
      });
      expect(response.status).toBe(400);
      const [kept] = await tester.app.get(DefinitionsService).triggers('strict');
      expect(kept).toMatchObject({
        lastOutcome: 'failed',
        lastError: expect.stringContaining('\ufffd'),
        passedOver: 1,
      });
    } finally {
      await tester.close();
    }
  });

  it('FAULT H15: where only a parsed body is left it is 415, which says what to set', async () => {
    const tester = await openTester(express({}));
    try {
      const base = await addressOf(tester);
      const { hook } = await publish(tester, [{ id: 'hook', type: 'webhook', auth: 'token' }]);
      const response = await fetch(`${base}/workflow-hooks/${hook}`, {
        method: 'POST',
        body: '{"amount":1}',
        headers: { 'content-type': 'application/json', 'x-workflow-token': SECRET },
      });
      expect(response.status).toBe(415);
      expect(((await response.json()) as { message: string }).message).toContain('rawBody: true');
    } finally {
      await tester.close();
    }
  });

  it('MOD-1: options that are wrong are refused, all at once', () => {
    const wrong = { secrets: 'x', path: 'a b', tolerance: '2 h', maxBytes: 0 } as never;
    expect(() => WorkflowWebhooksModule.forRoot(wrong)).toThrow(/secrets(.|\n)*tolerance(.|\n)*path(.|\n)*maxBytes/);
    expect(() => WorkflowWebhooksModule.forRoot(null as never)).toThrow(/secrets/);
    expect(() => WorkflowWebhooksModule.forRootAsync({ path: 'a b' } as never)).toThrow(/useFactory(.|\n)*path/);
  });

  it('MOD-1, TRIG-2: secrets are those of a provider, asked for the hook and whose it is', async () => {
    const asked: unknown[] = [];
    const vault = { read: (hook: object) => (asked.push(hook), Promise.resolve(SECRET)) };
    const webhooks = WorkflowWebhooksModule.forRootAsync({
      imports: [vaultModule(vault)],
      inject: [VAULT],
      useFactory: (given: typeof vault) => Promise.resolve({ secrets: (hook) => given.read(hook) }),
      path: 'in/hooks',
    });
    const tester = await openTester(express({ rawBody: true }), webhooks);
    try {
      const base = await addressOf(tester);
      const { hook } = await publish(tester, [{ id: 'hook', type: 'webhook', auth: 'token' }]);
      const call = (token: string) =>
        fetch(`${base}/in/hooks/${hook}`, {
          method: 'POST',
          body: '{"amount":1}',
          headers: { 'content-type': 'application/json', 'x-workflow-token': token },
        });
      expect((await call(SECRET)).status).toBe(202);
      expect((await call(OLD)).status).toBe(401);
      expect(asked[0]).toEqual({ hook, trigger: 'hook', definition: 'expense-approval', owner: null });
    } finally {
      await tester.close();
    }
  });

  it('MOD-1: what a factory gives is checked while the app is created, and the route is not its to say', async () => {
    const given = (made: object | null) => WorkflowWebhooksModule.forRootAsync({ useFactory: () => made as never });
    await expect(openTester(express({}), given(null))).rejects.toThrow(/secrets/);
    const late = given({ secrets: () => SECRET, tolerance: '2 h', path: 'elsewhere' });
    await expect(openTester(express({}), late)).rejects.toThrow(/tolerance(.|\n)*path: stands beside useFactory/);
  });
});

const VAULT = Symbol('VAULT');

const vaultModule = (vault: object): DynamicModule => ({
  module: class VaultModule {},
  providers: [{ provide: VAULT, useValue: vault }],
  exports: [VAULT],
});

function openTester(
  createApp: CreateApp,
  webhooks = WorkflowWebhooksModule.forRoot({ secrets: () => secrets.current, maxBytes: 2_000 }),
): Promise<WorkflowTester> {
  return WorkflowTester.create({
    store: 'memory',
    workflow: {},
    imports: [webhooks],
    providers: EXPENSES as Type[],
    createApp,
  });
}

async function addressOf(tester: WorkflowTester): Promise<string> {
  const app = tester.app as INestApplication;
  await app.listen(0, '127.0.0.1');
  return `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
}

/** Publishes a graph with these triggers. Returns their addresses. */
async function publish(
  tester: WorkflowTester,
  triggers: object[],
  id = 'expense-approval',
  settings: object = {},
  fields: object = {},
): Promise<Record<string, string>> {
  await tester.app.get(DefinitionsService).publish({ ...expenseGraph('sepa', id), settings, triggers, ...fields });
  const kept = await tester.app.get(DefinitionsService).triggers(id);
  return Object.fromEntries(kept.map(({ trigger, hook }) => [trigger, hook!]));
}
