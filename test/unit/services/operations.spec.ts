import type { OperationGate, OperationQuestion } from '../../../lib/services/operations/operation-gate.js';
import { CONTEXT_KEYS } from '../../../lib/context/context-keys.js';
import { asTeam, cls, serviceKit } from './service-kit.js';
import type { WorkflowService } from '../../../lib/services/workflow.service.js';

const input = { name: 'x' };

/** A gate that notes down what it is asked. */
class AskedGate implements OperationGate {
  readonly asked: (OperationQuestion & { ownerId: string | null })[] = [];
  answer: Awaited<ReturnType<OperationGate['check']>> = { allowed: true };

  abilityOf(operation: string): string | null {
    return `runs.${operation}`;
  }

  asks(): boolean {
    return true;
  }

  async check(question: OperationQuestion, ownerId: string | null) {
    this.asked.push({ ...question, ownerId });
    return this.answer;
  }
}

const asAda = <T>(fn: () => Promise<T>): Promise<T> =>
  asTeam('a', async () => {
    cls.set(CONTEXT_KEYS.actor, { id: 'ada' });
    return fn();
  });

const CALLS: Record<string, (service: Pick<WorkflowService, 'cancel'> & any, id: string) => Promise<unknown>> = {
  cancel: (service, id) => service.cancel(id, 'because'),
  terminate: (service, id) => service.terminate(id, 'because'),
  retry: (service, id) => service.retry(id, { reason: 'because' }),
  rerunFrom: (service, id) => service.rerunFrom(id, 'hello', { reason: 'because' }),
  migrateRun: (service, id) => service.migrateRun(id, 1, { reason: 'because' }),
  signal: (service, id) => service.signal(id, 'go', null, { reason: 'because' }),
};

async function kit() {
  const gate = new AskedGate();
  const made = serviceKit({ gate });
  const { run } = await asTeam('a', () => made.service.start('greet', input));
  return { gate, run, ...made };
}

describe.each(Object.entries(CALLS))('%s', (operation, call) => {
  it('AUTH-5: is asked about with run, actor, owner, reason and ability, before anything is written', async () => {
    const { gate, service, run, store } = await kit();
    gate.answer = { allowed: false, reason: 'not today.' };
    const before = await store.history(run.id, { all: true });
    await expect(asAda(() => call(service, run.id))).rejects.toMatchObject({
      code: 'AUTHORIZATION_DENIED',
      params: { operation, ability: `runs.${operation}`, reason: 'not today' },
    });
    expect(gate.asked).toEqual([
      {
        kind: 'operation',
        operation,
        run: { id: run.id, definition: 'greet', version: 1, status: 'RUNNING', owner: 'a', subject: null },
        actor: { id: 'ada' },
        ability: `runs.${operation}`,
        reason: 'because',
        ownerId: 'a',
      },
    ]);
    expect(await store.history(run.id, { all: true })).toEqual(before);
  });

  it('AUDIT-1: a denial is kept: who, what, why, when, from where', async () => {
    const { gate, service, audit, run, clock } = await kit();
    gate.answer = { allowed: false, reason: 'not today' };
    await asAda(() => call(service, run.id)).catch(() => undefined);
    const { entries } = await asTeam('a', () => audit.list({ run }));
    expect(entries).toMatchObject([
      {
        action: operation,
        ability: `runs.${operation}`,
        runId: run.id,
        owner: 'a',
        actor: { id: 'ada' },
        allowed: false,
        reason: 'not today',
        source: 'service',
        details: { reason: 'because' },
        createdAt: new Date(clock.now()),
      },
    ]);
  });

  it('AUTH-5, OWNER-5: a run of another owner is not found, and nobody is asked', async () => {
    const { gate, service, audit, run } = await kit();
    await expect(asTeam('b', () => call(service, run.id))).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    expect(gate.asked).toEqual([]);
    expect((await audit.asOperator().list()).entries).toEqual([]);
  });

  it('AUTH-5: an operator is asked too, with the owner of the run', async () => {
    const { gate, service, audit, run } = await kit();
    gate.answer = { allowed: false };
    await expect(asTeam('b', () => call(service.asOperator(), run.id))).rejects.toMatchObject({
      code: 'AUTHORIZATION_DENIED',
    });
    expect(gate.asked).toMatchObject([{ operation, ownerId: 'a' }]);
    const { entries } = await asTeam('a', () => audit.list());
    expect(entries).toMatchObject([{ source: 'operator', reason: null, details: { operator: true } }]);
  });
});

describe('what is allowed', () => {
  it('AUDIT-1: is kept with the change, and what came of it', async () => {
    const { service, audit, run } = await kit();
    await asAda(() => service.signal(run, 'go', 1, { messageId: 'm' }));
    await asAda(() => service.signal(run, 'go', 1, { messageId: 'm' }));
    await asAda(() => service.cancel(run, 'a mistake'));
    await asAda(() => service.cancel(run)).catch(() => undefined);
    await asAda(() => service.signal(run, 'late')).catch(() => undefined);
    await asAda(() => service.rerunFrom(run, 'hello', { idempotencyKey: 'k' }));
    await asAda(() => service.rerunFrom(run, 'hello', { idempotencyKey: 'k' }));
    const { entries } = await asTeam('a', () => audit.list());
    expect(entries.map(({ action, allowed, reason, details }) => [action, allowed, reason, details]).reverse()).toEqual(
      [
        ['signal', true, null, { name: 'go' }],
        ['signal', true, null, { name: 'go', duplicate: true }],
        ['cancel', true, 'a mistake', {}],
        ['cancel', true, null, { refused: 'CANCELLED' }],
        ['signal', true, null, { name: 'late', refused: 'ended' }],
        ['rerunFrom', true, null, { node: 'hello', generation: 2 }],
        ['rerunFrom', true, null, { node: 'hello', duplicate: true }],
      ],
    );
  });

  it('AUDIT-1: is kept where nobody is asked, and the run is not even read for it', async () => {
    const { service, audit, store } = serviceKit();
    const { run } = await asTeam('a', () => service.start('greet', input));
    store.findRun = () => Promise.reject(new Error('not asked for'));
    await asTeam('a', () => service.cancel(run));
    const { entries } = await asTeam('a', () => audit.list());
    expect(entries).toMatchObject([{ action: 'cancel', ability: null, actor: null, allowed: true }]);
  });

  it('AUDIT-1: what the audit can not keep, is not done', async () => {
    const { service, run, store } = await kit();
    store.changeRun = () => Promise.reject(new Error('away'));
    await expect(asAda(() => service.cancel(run))).rejects.toThrow('away');
    expect((await store.getRun(run.id, { all: true }))?.status).toBe('RUNNING');
  });

  it('AUDIT-1: an operator who replays dead letters is kept, a letter an entry', async () => {
    const { service, audit, run, store } = await kit();
    const slots = await store.leaseSlots('r', 60_000, 16);
    const rows = await store.readOutbox('r', slots, 10);
    await store.failOutbox(rows[0]!.id, 0, 'broken', null);
    const operator = service.asOperator();
    const [letter] = await operator.deadLetters();
    expect(await asAda(() => operator.replayDeadLetters([letter!.id]))).toBe(1);
    const { entries } = await asTeam('a', () => audit.list());
    expect(entries).toMatchObject([
      { action: 'replayDeadLetter', runId: run.id, actor: { id: 'ada' }, details: { letter: letter!.id } },
    ]);
  });
});

describe('who and from where', () => {
  const cyclic: Record<string, unknown> = { id: 'loop' };
  cyclic.self = cyclic;
  class User {
    readonly id = 7;
    readonly teams = new Map();
  }
  const broken = {
    get id(): string {
      throw new Error('no');
    },
    name: 'x'.repeat(10_000),
  };

  it.each([
    [
      { id: 'ada', '\0': '\ud800' },
      { id: 'ada', '\0': '\ud800' },
    ],
    [cyclic, { id: 'loop', cut: 'Object' }],
    [new User(), { id: 7, cut: 'User' }],
    [broken, { cut: 'Object' }],
    [10n, { cut: 'bigint' }],
    ['x'.repeat(5_000), { cut: 'string' }],
    [null, null],
  ])('AUDIT-1: an actor that can not be kept as he is breaks no call (%#)', async (actor, kept) => {
    const { service, audit, run } = await kit();
    await asTeam('a', async () => {
      cls.set(CONTEXT_KEYS.actor, actor);
      await service.cancel(run);
    });
    expect((await audit.asOperator().list()).entries).toMatchObject([{ actor: kept }]);
  });

  it('AUDIT-1: says the run whose stage called, else the route that was guarded', async () => {
    const { service, audit, run } = await kit();
    await asTeam('a', async () => {
      cls.set(CONTEXT_KEYS.request, 'POST /runs/7/signal');
      await service.signal(run, 'go');
      cls.set(CONTEXT_KEYS.run, { id: 'r', definition: 'd', version: 1 });
      await service.signal(run, 'go');
    });
    const { entries } = await audit.asOperator().list();
    expect(entries.map(({ source }) => source)).toEqual(['run r', 'POST /runs/7/signal']);
  });

  it('AUTH-5: a reason is cleaned and cut, and must be a text', async () => {
    const { service, audit, run } = await kit();
    await expect(asAda(() => service.cancel(run, 7 as never))).rejects.toMatchObject({
      problems: [{ path: 'reason' }],
    });
    await asAda(() => service.cancel(run, `\0${'x'.repeat(2_000)}`));
    const [entry] = (await audit.asOperator().list()).entries;
    expect(entry!.reason).toMatch(/^\ufffdx+…$/);
    expect(entry!.reason).toHaveLength(1_000);
  });
});

describe('AuditService', () => {
  it('AUDIT-1: pages newest first, by run, actor and action', async () => {
    const { service, audit, run } = await kit();
    for (const name of ['1', '2', '3']) await asAda(() => service.signal(run, name));
    await asTeam('a', () => service.cancel(run));
    const first = await audit.asOperator().list({ limit: 3 });
    const second = await audit.asOperator().list({ limit: 3, after: first.after });
    expect([...first.entries, ...second.entries].map(({ details }) => details.name)).toEqual([
      undefined,
      '3',
      '2',
      '1',
    ]);
    expect(second.after).toBeNull();
    expect((await audit.asOperator().list({ actor: { id: 'ada' } })).entries).toHaveLength(3);
    expect((await audit.asOperator().list({ run: run.id, action: 'cancel' })).entries).toHaveLength(1);
    expect((await asTeam('b', () => audit.list())).entries).toEqual([]);
  });

  it.each([
    [{ limit: 0 }, 'limit'],
    [{ limit: 501 }, 'limit'],
    [{ after: 'x' }, 'after'],
    [{ action: '' }, 'action'],
    [{ actor: null }, 'actor'],
    [{ who: 'ada' } as never, 'who'],
  ])('FAULT A18: %p is refused', async (options, path) => {
    const { audit } = serviceKit();
    await expect(asTeam('a', () => audit.list(options))).rejects.toMatchObject({ problems: [{ path }] });
  });

  it.each(['run', 'actor', 'action'])(
    'FAULT A18: %s that is named and undefined is refused, not dropped',
    async (name) => {
      const { audit } = serviceKit();
      await expect(audit.asOperator().list({ [name]: undefined })).rejects.toMatchObject({ code: 'UNDEFINED_ID' });
    },
  );
});
