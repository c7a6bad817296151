import { InvalidOptionsError } from '../../../lib/errors/index.js';
import type { WorkflowModuleOptions } from '../../../lib/interfaces/index.js';
import { resolveOptions } from '../../../lib/workflow.module-definition.js';

/** What is wrong with the options, by path; fails when nothing is. */
function problemsOf(options: unknown): Record<string, string> {
  try {
    resolveOptions(options as WorkflowModuleOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionsError);
    return Object.fromEntries((error as InvalidOptionsError).problems.map(({ path, message }) => [path, message]));
  }
  throw new Error('nothing is wrong with the options');
}

const NO_ABILITIES = {
  cancel: null,
  terminate: null,
  retry: null,
  rerunFrom: null,
  migrateRun: null,
  signal: null,
  decide: null,
  delegate: null,
  revoke: null,
  withdraw: null,
  closeApproval: null,
  remind: null,
  saveDraft: null,
  publish: null,
  retire: null,
};

describe('resolveOptions', () => {
  it('MOD-1: no options are all defaults', () => {
    expect(resolveOptions()).toEqual(resolveOptions({}));
    expect(resolveOptions()).toEqual({
      dataSource: null,
      schema: null,
      tablePrefix: 'workflow_',
      migrations: 'check',
      worker: { concurrency: 20, pollIntervalMs: 1_000, queues: null, notify: true, listenUrl: null },
      transport: null,
      queue: { default: 'default' },
      lease: { heartbeatIntervalMs: 60_000, staleThresholdMs: 300_000, absoluteTimeoutMs: 3_600_000, maxLosses: 5 },
      retry: {
        policy: { maxAttempts: 3, backoff: { kind: 'list', delaysMs: [30_000, 120_000, 600_000] }, jitter: 0.1 },
        maxAttemptsCap: 10,
      },
      limits: {
        maxStageRuns: 200,
        nestingDepth: 3,
        maxOutputBytes: 65_536,
        maxInputBytes: 262_144,
        startsPerMinute: null,
      },
      shutdownGraceMs: 30_000,
      stuckAfterMs: 900_000,
      requeueAfterMs: 60_000,
      versionDeferDelayMs: 30_000,
      wake: { everyMs: 5_000, batch: 100, claimTtlMs: 60_000 },
      idempotency: { ttlMs: 2_592_000_000, strict: false },
      events: { retentionMs: 604_800_000 },
      templates: [],
      triggers: { maxDepth: 5, allowCycles: false, entities: [] },
      outbox: { policy: expect.objectContaining({ maxAttempts: 10 }) },
      owners: { resolve: null, load: null, context: null, rowLevelSecurity: null },
      subjects: { resolvers: {}, lifecycles: {}, autoTouch: true },
      approvals: { actorId: null, resolvers: {}, remindEveryMs: 3_600_000 },
      authorization: { authorizer: null, abilities: {}, operations: NO_ABILITIES, timeoutMs: 10_000 },
      systemActor: null,
      messages: {},
      onDrift: 'refuse',
      foreignDecorators: 'refuse',
    });
  });

  it('JOB-3: a transport is an object with all of its methods, and stays the one it is', () => {
    const transport = { name: 't', start() {}, send() {}, cancelByRun() {}, stop() {} };
    expect(resolveOptions({ transport: transport as never }).transport).toBe(transport);
    for (const wrong of ['bullmq', null, class {}, { ...transport, cancelByRun: undefined }])
      expect(problemsOf({ transport: wrong })).toEqual({ transport: expect.stringContaining('cancelByRun') });
  });

  it('OWNER-4: row-level security is on by switching roles, or by a login of the engine', () => {
    const of = (rowLevelSecurity: unknown) => resolveOptions({ owners: { rowLevelSecurity } as never }).owners;
    expect(of(true)).toMatchObject({ rowLevelSecurity: 'switch' });
    expect(of(false)).toMatchObject({ rowLevelSecurity: null });
    const logins = [{ username: 'engine', password: 'x' }, { username: 'engine' }, { url: 'postgres://engine@db/app' }];
    for (const dispatcher of logins) expect(of({ dispatcher })).toMatchObject({ rowLevelSecurity: { dispatcher } });
    const wrong = [
      null,
      1,
      'true',
      {},
      { dispatcher: true },
      { dispatcher: { username: '' } },
      { dispatcher: { url: 'mysql://db' } },
    ];
    const mixed = [{ dispatcher: logins[0], other: 1 }, { dispatcher: { ...logins[0], url: 'postgres://db' } }];
    for (const rowLevelSecurity of [...wrong, ...mixed])
      expect(problemsOf({ owners: { rowLevelSecurity } })).toEqual({
        'owners.rowLevelSecurity': expect.stringContaining('{ dispatcher: { username, password } }'),
      });
  });

  it('MOD-1: what is given counts, durations in any form', () => {
    const systemActor = () => ({ id: 'system' });
    const resolve = () => 'team-1';
    const dataSource = { options: { type: 'postgres' }, isInitialized: true, driver: {} };
    const resolved = resolveOptions({
      dataSource,
      schema: 'flows',
      tablePrefix: 'wf_',
      migrations: 'run',
      worker: { concurrency: 5, pollInterval: 'PT2S', queues: ['a', 'b', 'a'], notify: false },
      queue: { default: 'main' },
      lease: { heartbeatInterval: 500, staleThreshold: '2s', absoluteTimeout: 0, maxLosses: 0 },
      retry: { maxAttempts: 7, maxAttemptsCap: 8, backoff: '1 min' },
      limits: { maxStageRuns: 1_000 },
      stuckAfter: '1 h',
      wake: { every: false },
      idempotency: { ttl: '7 days', strict: true },
      events: { retention: '1 day' },
      triggers: { maxDepth: 3, allowCycles: true, entities: ['Order'] },
      outbox: { maxAttempts: 2, backoff: ['1s'] },
      owners: { resolve },
      systemActor,
      messages: { RUN_NOT_FOUND: 'Kein Lauf {runId}.' },
      onDrift: 'warn',
    });
    expect(resolved).toMatchObject({
      schema: 'flows',
      tablePrefix: 'wf_',
      migrations: 'run',
      worker: { concurrency: 5, pollIntervalMs: 2_000, queues: ['a', 'b'], notify: false },
      queue: { default: 'main' },
      lease: { heartbeatIntervalMs: 500, staleThresholdMs: 2_000, absoluteTimeoutMs: 0, maxLosses: 0 },
      retry: { policy: { maxAttempts: 7, backoff: { kind: 'list', delaysMs: [60_000] } }, maxAttemptsCap: 8 },
      limits: { maxStageRuns: 1_000, nestingDepth: 3 },
      stuckAfterMs: 3_600_000,
      wake: { everyMs: null },
      idempotency: { ttlMs: 604_800_000, strict: true },
      events: { retentionMs: 86_400_000 },
      triggers: { maxDepth: 3, allowCycles: true, entities: ['Order'] },
      outbox: { policy: { maxAttempts: 2, backoff: { kind: 'list', delaysMs: [1_000] } } },
      messages: { RUN_NOT_FOUND: 'Kein Lauf {runId}.' },
      onDrift: 'warn',
    });
    expect(resolved.dataSource).toBe(dataSource);
    expect(resolved.systemActor).toBe(systemActor);
    expect(resolved.owners.resolve).toBe(resolve);
    expect(Object.isFrozen(resolved)).toBe(true);
  });

  it('AUTH-1, AUTH-2: abilities by stage, null too, an authorizer as a class or an object, and its limit', () => {
    class Own {
      authorize = () => true;
    }
    const own = new Own();
    const abilities = { pay: 'finance.pay', see: null };
    for (const authorizer of [Own, own])
      expect(resolveOptions({ authorization: { authorizer, abilities, timeout: '2s' } }).authorization).toEqual({
        authorizer,
        abilities,
        operations: NO_ABILITIES,
        timeoutMs: 2_000,
      });
  });

  it('AUTH-5: abilities by operation; an unknown operation is named with those that there are', () => {
    const operations = { cancel: 'runs.cancel', retry: null };
    const { authorization } = resolveOptions({ authorization: { operations } });
    expect(authorization.operations).toEqual({ ...NO_ABILITIES, cancel: 'runs.cancel' });
    expect(problemsOf({ authorization: { operations: { cancle: 'x' } } })).toEqual({
      'authorization.operations.cancle': 'there is no such option; did you mean "cancel"?',
    });
    expect(problemsOf({ authorization: { operations: { cancel: ' ' } } })).toEqual({
      'authorization.operations.cancel': 'give it the name of an ability, or null for none',
    });
  });

  it('HOST-1: `worker: false` executes nothing', () => {
    expect(resolveOptions({ worker: false }).worker).toBeNull();
    expect(problemsOf({ worker: true })).toHaveProperty('worker');
  });

  it('STUCK-1: `stuckAfter` is three stale thresholds, five minutes at least', () => {
    const after = (staleThreshold: string) =>
      resolveOptions({ lease: { staleThreshold, heartbeatInterval: '5s' } }).stuckAfterMs;
    expect(after('10 min')).toBe(30 * 60_000);
    expect(after('30s')).toBe(5 * 60_000);
  });

  it.each([NaN, 0, -1, Infinity, '5', 1.5, null, 10_001])('FAULT C17: concurrency %p is refused', (concurrency) => {
    expect(problemsOf({ worker: { concurrency } })).toEqual({
      'worker.concurrency': 'give it an integer from 1 to 10000',
    });
  });

  it.each([0, -1, NaN, 9, '5 parsecs', '', 2 ** 31, null])(
    'FAULT B1: a poll interval of %p is refused',
    (pollInterval) => {
      expect(problemsOf({ worker: { pollInterval } })).toHaveProperty(['worker.pollInterval']);
    },
  );

  it.each<[string, unknown, string[]]>([
    [
      'an interval that is no timer',
      { lease: { heartbeatInterval: '25 days', staleThreshold: '60 days' } },
      ['lease.heartbeatInterval'],
    ],
    ['a tick without pause', { wake: { every: 0 } }, ['wake.every']],
    ['a tick of true', { wake: { every: true } }, ['wake.every']],
    [
      'a heartbeat that may not be late once',
      { lease: { heartbeatInterval: '60s', staleThreshold: '120s' } },
      ['lease.heartbeatInterval'],
    ],
    ['stuck before stale', { stuckAfter: '5m' }, ['stuckAfter']],
    ['a wrong policy', { retry: { maxAttempts: 0, backoff: 'soon' } }, ['retry.maxAttempts', 'retry.backoff']],
    ['a wrong cap', { retry: { maxAttemptsCap: 0 } }, ['retry.maxAttemptsCap']],
    ['a wrong limit', { limits: { maxStageRuns: 0 } }, ['limits.maxStageRuns']],
    ['triggers without end', { triggers: { maxDepth: 0 } }, ['triggers.maxDepth']],
    ['entities that are none', { triggers: { entities: [7] } }, ['triggers.entities.0']],
    ['events that are gone at once', { events: { retention: 0 } }, ['events.retention']],
    ['events by another name', { events: { ttl: '1 day' } }, ['events.ttl']],
    ['a wrong outbox', { outbox: { maxAttempts: 0 } }, ['outbox.maxAttempts']],
    ['no queues', { worker: { queues: [] } }, ['worker.queues']],
    ['a queue without a name', { queue: { default: ' ' } }, ['queue.default']],
    ['a schema for an injection', { schema: 'a"; drop table x' }, ['schema']],
    ['a prefix that PostgreSQL would cut', { tablePrefix: 'p'.repeat(32) }, ['tablePrefix']],
    ['no DataSource', { dataSource: {} }, ['dataSource']],
    ['a name without letters', { dataSource: '' }, ['dataSource']],
    ['a load that is no function', { owners: { load: 'team' } }, ['owners.load']],
    ['a context that has no run', { owners: { context: {} } }, ['owners.context']],
    ['an authorizer that can ask nobody', { authorization: { authorizer: {} } }, ['authorization.authorizer']],
    ['an ability without a name', { authorization: { abilities: { pay: ' ' } } }, ['authorization.abilities.pay']],
    ['an answer without a limit', { authorization: { timeout: 0 } }, ['authorization.timeout']],
    ['an option of authorization by another name', { authorization: { ability: {} } }, ['authorization.ability']],
    ['a system actor that is no function', { systemActor: {} }, ['systemActor']],
    ['a message that is no text', { messages: { RUN_NOT_FOUND: 1 } }, ['messages.RUN_NOT_FOUND']],
    ['nothing', null, ['']],
    ['a list', [], ['']],
  ])('MOD-1: %s is refused', (_, options, paths) => {
    expect(Object.keys(problemsOf(options))).toEqual(paths);
  });

  it('MOD-1: an unknown option is named, with the one most likely meant', () => {
    expect(problemsOf({ workers: {}, lease: { heartbeatIntervall: 5 }, retry: { maxAttemps: 2 }, zzz: 1 })).toEqual({
      workers: expect.stringContaining('did you mean "worker"?'),
      'lease.heartbeatIntervall': expect.stringContaining('did you mean "heartbeatInterval"?'),
      'retry.maxAttemps': expect.stringContaining('did you mean "maxAttempts"?'),
      zzz: expect.stringContaining('there are: dataSource, '),
    });
  });

  it('MOD-1: all problems are told at once, in one sentence each', () => {
    const wrong = {
      worker: { concurrency: 0, pollInterval: 0 },
      retry: { maxAttempts: 0 },
      limits: { nestingDepth: -1 },
      onDrift: 'never',
    };
    expect(Object.keys(problemsOf(wrong)).sort()).toEqual([
      'limits.nestingDepth',
      'onDrift',
      'retry.maxAttempts',
      'worker.concurrency',
      'worker.pollInterval',
    ]);
    expect(() => resolveOptions(wrong as never)).toThrow(/worker\.concurrency: give it an integer from 1 to 10000/);
  });
});
