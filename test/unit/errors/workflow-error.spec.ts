import { GRAPH_CODES } from '../../../lib/errors/codes/graph.codes.js';
import {
  AlreadyDecidedError,
  ApprovalCannotPassError,
  ApprovalNotFoundError,
  ApproverUnknownError,
  CommentRequiredError,
  DelegationRefusedError,
  InvalidApproversError,
  NoApproversError,
  NoRecipientsError,
  NotAnApproverError,
  NothingToWithdrawError,
  RemindedTooSoonError,
  RoundClosedError,
  RoundNotOpenedError,
  SeatDecidedError,
  StageUnclearError,
  UnknownApproversError,
  AmbiguousStageError,
  AuthorizationDeniedError,
  ChildNotStartedError,
  ChildRunError,
  ConditionFailedError,
  FieldNotWritableError,
  TransitionDeniedError,
  ExpressionFailedError,
  UnknownOutcomeError,
  DataSourceNotFoundError,
  DefinitionDriftError,
  ERROR_CODES,
  ForeignDecoratorError,
  IdempotencyConflictError,
  InvalidConfigError,
  InvalidDefinitionError,
  InvalidDurationError,
  InvalidEventError,
  InvalidExpressionError,
  InvalidInputError,
  InvalidOptionsError,
  InvalidOutputError,
  InvalidStepError,
  InvalidWhereError,
  LeaseAbsoluteCapError,
  LeaseExpiredError,
  LimitExceededError,
  MigrationsBehindError,
  NoCompletionCheckError,
  NonRetryableError,
  OutputMissingError,
  OwnerContextMisusedError,
  OwnerMismatchError,
  OwnerRequiredError,
  DispatcherDeniedError,
  RoleNotRestrictedError,
  RowPoliciesMissingError,
  ResultTimeoutError,
  RetryAfterError,
  RunCancelledError,
  RunFailedError,
  RunEndedError,
  RunNotCancellableError,
  RunNotFoundError,
  RunNotMigratableError,
  RunNotRerunnableError,
  RunNotRetryableError,
  ShuttingDownError,
  StageAbortedError,
  StageFailedError,
  StageTimeoutError,
  StepMismatchError,
  StepNestedError,
  StoreUnavailableError,
  SubjectMissingError,
  TransactionRequiredError,
  UndefinedIdError,
  UnknownWorkflowError,
  UnreadablePayloadError,
  UnsupportedDatabaseError,
  WaitTimeoutError,
  WorkflowError,
  WorkflowNotServedError,
  findErrorCode,
} from '../../../lib/errors/index.js';

const cause = new Error('below');
const runId = 'r1';
const limit = { code: 'STEP_LIMIT_EXCEEDED', limit: 'limits.maxStageRuns', value: 200, actual: 201, where: 'Run r1' };
const child = { runId: 'c1', status: 'CANCELLED', failureCode: null, failureMessage: null };
/** Every class with the code it has, made from all of its parameters. */
const every: readonly (readonly [string, WorkflowError])[] = [
  ['INVALID_OPTIONS', new InvalidOptionsError({ problems: [{ path: 'wake.every', message: 'must be a duration' }] })],
  ['DATA_SOURCE_NOT_FOUND', new DataSourceNotFoundError({ dataSource: 'main', known: ['other'] })],
  ['INVALID_DURATION', new InvalidDurationError({ what: 'wake.every', value: "'5 parsecs'", reason: 'no such unit' })],
  [
    'INVALID_DEFINITION',
    new InvalidDefinitionError({ workflow: 'w', complaints: [{ place: 'A', problem: 'b.', todo: 'C.' }] }),
  ],
  ['DEFINITION_DRIFT', new DefinitionDriftError({ workflow: 'w', version: 1, runs: 3, changes: 'node b is gone' })],
  [
    'FOREIGN_DECORATOR',
    new ForeignDecoratorError({ place: 'A.b', decorator: 'OnEvent', from: 'x', use: '@OnWorkflowEvent' }),
  ],
  ['UNKNOWN_WORKFLOW', new UnknownWorkflowError({ workflow: 'invoce', version: 2, known: ['invoice', 'other'] })],
  ['WORKFLOW_NOT_SERVED', new WorkflowNotServedError({ workflow: 'w', version: 1, runId, served: [2, 3] })],
  ['INVALID_CONFIG', new InvalidConfigError({ place: 'w.a', issues: [{ path: ['x'], message: 'wrong' }] }, { cause })],
  ['INVALID_INPUT', new InvalidInputError({ what: 'w', issues: [{ path: ['x'], message: 'wrong' }] }, { cause })],
  ['INVALID_OUTPUT', new InvalidOutputError({ path: '$.a', reason: 'is a Date' }, { cause })],
  ['OUTPUT_MISSING', new OutputMissingError({ wanted: 'a', where: 'b', known: ['c'] })],
  ['AMBIGUOUS_STAGE', new AmbiguousStageError({ stage: 'S', nodes: ['a', 'b'] })],
  ['UNREADABLE_PAYLOAD', new UnreadablePayloadError({ what: 'The output of a', reason: 'Unexpected end' }, { cause })],
  ['RUN_NOT_FOUND', new RunNotFoundError({ runId })],
  ['RUN_ENDED', new RunEndedError({ runId, what: 'signal "approve"' })],
  ['RUN_NOT_CANCELLABLE', new RunNotCancellableError({ runId, status: 'FAILED' })],
  ['RUN_NOT_RETRYABLE', new RunNotRetryableError({ runId, status: 'COMPLETED', why: 'it did not fail.' })],
  ['RUN_NOT_RERUNNABLE', new RunNotRerunnableError({ runId, status: 'RUNNING', why: 'it goes on.', node: 'a' })],
  ['RUN_NOT_MIGRATABLE', new RunNotMigratableError({ runId, status: 'RUNNING', version: 2, why: 'it has no node a.' })],
  [
    'RUN_FAILED',
    new RunFailedError({ runId, workflow: 'w', node: 'a', failureCode: 'EXCEPTION', failureMessage: 'no' }),
  ],
  ['RUN_CANCELLED', new RunCancelledError({ runId, reason: 'not needed' })],
  ['RESULT_TIMEOUT', new ResultTimeoutError({ runId, timeout: '30 s' })],
  ['SHUTTING_DOWN', new ShuttingDownError({ what: 'Waiting for r1' })],
  ['UNDEFINED_ID', new UndefinedIdError({ what: 'owner', where: 'list', hint: 'null for no owner' })],
  ['IDEMPOTENCY_CONFLICT', new IdempotencyConflictError({ key: 'k', workflow: 'w', runId })],
  ['NON_RETRYABLE', new NonRetryableError('no', { cause })],
  ['STAGE_FAILED', new StageFailedError('no', { cause })],
  ['CARD_DECLINED', new StageFailedError('CARD_DECLINED', 'no', { cause })],
  ['EXCEPTION', new RetryAfterError('later', '5m', { cause })],
  ['STAGE_ABORTED', new StageAbortedError({ stage: 's', reason: 'lease-lost', detail: 'Another worker has it.' })],
  ['STAGE_TIMEOUT', new StageTimeoutError({ stage: 's', timeout: '5 min' })],
  ['EXPRESSION_FAILED', new ExpressionFailedError({ node: 'a', message: 'there is no x' }, { cause })],
  [
    'UNKNOWN_OUTCOME',
    new UnknownOutcomeError({ node: 'a', type: 'b', outcome: 'c', outcomes: 'd', suggestion: 'd' }, { cause }),
  ],
  ['FIELD_NOT_WRITABLE', new FieldNotWritableError({ field: 'a', subject: 'b', reason: 'c' })],
  ['TRANSITION_DENIED', new TransitionDeniedError({ transition: 'a', subject: 'b', reason: 'c' })],
  ['CONDITION_FAILED', new ConditionFailedError({ node: 'a', message: 'x is undefined' }, { cause })],
  ['STEP_MISMATCH', new StepMismatchError({ step: 'a', stage: 's', recorded: 'sleep', asked: 'run' })],
  ['WAIT_TIMEOUT', new WaitTimeoutError({ what: 'Step a', timeout: '7 d' })],
  ['STEP_NESTED', new StepNestedError({ step: 'a', outer: 'b' })],
  [
    'INVALID_STEP',
    new InvalidStepError(
      { what: 'ctx.step.sleep("a")', problems: [{ path: 'duration', message: 'is NaN' }] },
      { cause },
    ),
  ],
  [
    'CHILD_RUN_FAILED',
    new ChildRunError({ runId, status: 'FAILED', failureCode: 'EXCEPTION', failureMessage: 'no card' }),
  ],
  ['CHILD_NOT_STARTED', new ChildNotStartedError({ workflow: 'w', message: 'too many' }, { cause })],
  ['NO_COMPLETION_CHECK', new NoCompletionCheckError({ stage: 's' })],
  [
    'INVALID_EXPRESSION',
    new InvalidExpressionError({ expression: 'input.a >', place: '10', message: 'ends too early' }, { cause }),
  ],
  ['INVALID_WHERE', new InvalidWhereError({ where: 'event.a >', place: '9', message: 'ends too early' }, { cause })],
  [
    'INVALID_EVENT',
    new InvalidEventError({ what: 'Event "a"', issues: [{ path: ['b'], message: 'is a Date' }] }, { cause }),
  ],
  ['LEASE_EXPIRED', new LeaseExpiredError({ stage: 's', worker: 'w1', losses: 1, maxLosses: 5 })],
  ['LEASE_ABSOLUTE_CAP', new LeaseAbsoluteCapError({ stage: 's', worker: 'w1', cap: '1 h' })],
  ['STEP_LIMIT_EXCEEDED', new LimitExceededError({ ...limit, code: 'STEP_LIMIT_EXCEEDED' })],
  ['AUTHORIZATION_DENIED', new AuthorizationDeniedError({ what: 'Stage s', ability: 'pay', reason: 'no' }, { cause })],
  ['SUBJECT_MISSING', new SubjectMissingError({ subject: 'expense 7' })],
  ['OWNER_CONTEXT_MISUSED', new OwnerContextMisusedError({ owner: 'a', how: 'not at all' })],
  ['OWNER_MISMATCH', new OwnerMismatchError({ what: 'Expense 7' })],
  ['OWNER_REQUIRED', new OwnerRequiredError({ what: 'start' })],
  ['ROW_POLICIES_MISSING', new RowPoliciesMissingError({ tables: ['workflow_runs', 'workflow_jobs'] })],
  ['ROLE_NOT_RESTRICTED', new RoleNotRestrictedError({ role: 'app', why: 'is a superuser' })],
  ['DISPATCHER_DENIED', new DispatcherDeniedError({ role: 'app', dispatcher: 'd', cure: 'GRANT "d" TO "app"' })],
  ['NO_APPROVERS', new NoApproversError({ node: 'sign', stage: 'finance', requester: 'u1' })],
  ['ROUND_NOT_OPENED', new RoundNotOpenedError({ escalation: 'sign#1', node: 'sign' })],
  ['NO_RECIPIENTS', new NoRecipientsError({ escalation: 'sign#1' })],
  ['APPROVAL_CANNOT_PASS', new ApprovalCannotPassError({ node: 'sign', reason: '2 must agree, and there are 1' })],
  ['INVALID_APPROVERS', new InvalidApproversError({ node: 'sign', reason: 'a list was expected' })],
  ['UNKNOWN_APPROVERS', new UnknownApproversError({ approvers: 'a', suggestion: 'b', known: ['b'] })],
  ['APPROVAL_NOT_FOUND', new ApprovalNotFoundError({ round: 'r1' })],
  ['APPROVER_UNKNOWN', new ApproverUnknownError({ where: 'decide' })],
  ['ROUND_CLOSED', new RoundClosedError({ round: 'r1', status: 'expired' })],
  ['NOT_AN_APPROVER', new NotAnApproverError({ round: 'r1', person: 'u1', why: 'they were not asked' })],
  [
    'ALREADY_DECIDED',
    new AlreadyDecidedError({
      round: 'r1',
      person: 'u1',
      answer: 'approved',
      withdrawn: 'and withdrew it since',
    }),
  ],
  ['STAGE_UNCLEAR', new StageUnclearError({ round: 'r1', asked: 1, given: 0, decided: 0 })],
  ['COMMENT_REQUIRED', new CommentRequiredError({ round: 'r1' })],
  ['DELEGATION_REFUSED', new DelegationRefusedError({ round: 'r1', to: 'u2', why: 'they are asked themselves' })],
  ['SEAT_DECIDED', new SeatDecidedError({ round: 'r1', person: 'u1' })],
  ['NOTHING_TO_WITHDRAW', new NothingToWithdrawError({ round: 'r1', person: 'u1' })],
  ['REMINDED_TOO_SOON', new RemindedTooSoonError({ round: 'r1', possibleAt: 0 })],
  ['MIGRATIONS_BEHIND', new MigrationsBehindError({ pending: ['a'], schema: 'public' })],
  ['STORE_UNAVAILABLE', new StoreUnavailableError({ doing: 'claiming jobs', reason: 'refused' }, { cause })],
  ['ROOT_MANAGER', new TransactionRequiredError({ code: 'ROOT_MANAGER', method: 'start' })],
  [
    'ISOLATION_LEVEL',
    new TransactionRequiredError({
      code: 'ISOLATION_LEVEL',
      method: 'start',
      isolation: 'SERIALIZABLE',
      hint: 'for start only',
    }),
  ],
  ['UNSUPPORTED_DATABASE', new UnsupportedDatabaseError({ database: 'sqlite', version: '3', needs: 'use PostgreSQL' })],
];

describe('WorkflowError', () => {
  it.each(every)('FAIL-4: %s is made from its parameters and leaves no place in its message open', (code, error) => {
    expect(error).toBeInstanceOf(Error);
    expect(error.code).toBe(code);
    expect(error.name).toMatch(/Error$/);
    expect(Object.keys(error)).not.toContain('name');
    expect(error.message).not.toMatch(/[{}]|\[\[|\]\]|\[object/);
    const places = [...(findErrorCode(code)?.text ?? '').matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
    for (const place of places) expect(error.params).toHaveProperty(place, expect.anything());
    expect(error.message.length).toBeGreaterThan(1);
    expect([undefined, cause]).toContain(error.cause);
    for (const value of Object.values(error.params).flat()) {
      if (typeof value === 'string' && code !== 'UNKNOWN_WORKFLOW') expect(error.message).toContain(value);
    }
  });

  it('FAIL-4: every text of the catalogue that has a class is reached by one', () => {
    const reached = new Set(every.map(([code]) => code));
    // What is wrong with a graph is told as a list of problems, not thrown.
    const ofGraphs = new Set(Object.keys(GRAPH_CODES));
    const withoutClass = Object.keys(ERROR_CODES).filter((code) => !reached.has(code) && !ofGraphs.has(code));
    expect(withoutClass.sort()).toEqual([
      'ACTOR_REQUIRES_USER',
      'GRAPH_TOO_LARGE',
      'LOOP_LIMIT_EXCEEDED',
      'MISSING_TRIGGERING_USER',
      'NESTING_DEPTH_EXCEEDED',
      'RECORD_FAILED',
      'RUN_TIMEOUT',
      'START_RATE_EXCEEDED',
      'STUCK_RUN_REAPED',
    ]);
  });

  it('FAULT K16: an error of another copy of the package is known by its brand', () => {
    let other: typeof import('../../../lib/errors/index.js') | undefined;
    jest.isolateModules(() => {
      other = jest.requireActual('../../../lib/errors/index.js');
    });
    const foreign = new other!.RunNotFoundError({ runId });
    expect(foreign).not.toBeInstanceOf(WorkflowError);
    expect(WorkflowError.is(foreign)).toBe(true);
  });

  it('FAULT A9: nothing else is taken for one, and asking never throws', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const things = [new Error('x'), null, undefined, 'RUN_NOT_FOUND', { code: 'RUN_NOT_FOUND' }, () => 1, proxy];
    expect(things.filter((thing) => WorkflowError.is(thing))).toEqual([]);
  });

  it('RETRY-3: the package knows of each error whether it is retried', () => {
    expect(new NonRetryableError('no').retryable).toBe(false);
    expect(new StageFailedError('EXCEPTION', 'no').retryable).toBe(false);
    expect(new RetryAfterError('later', 5_000)).toMatchObject({ retryable: true, retryAfter: 5_000 });
    expect(new StageTimeoutError({ stage: 's', timeout: '5 min' }).retryable).toBe(true);
    expect(new RunNotFoundError({ runId }).retryable).toBe(false);
    expect(new ChildNotStartedError({ workflow: 'w', message: 'rate' }).retryable).toBe(true);
    expect(new ChildRunError({ ...child, status: 'FAILED' }).retryable).toBe(false);
    expect(new StageAbortedError({ stage: 's', reason: 'ended' }).retryable).toBe(true);
    expect(new StageAbortedError({ stage: 's', reason: 'cancelled' }).retryable).toBe(false);
    expect(new StageAbortedError({ stage: 's', reason: 'shutdown' }).retryable).toBe(true);
  });

  it('STEP-9: a cancelled child has no code, and its message reads without one', () => {
    expect(new ChildRunError(child).message).toMatch(/^Child run c1 ended CANCELLED\. /);
    expect(new ChildRunError({ ...child, failureMessage: 'not needed' }).message).toMatch(/CANCELLED: not needed\. /);
  });

  it('STEP-11: a mismatch names the stage only where it is known', () => {
    const message = (stage?: string) => new StepMismatchError({ step: 'a', stage, recorded: 'r', asked: 's' }).message;
    expect(message()).toMatch(/^Step "a" was recorded as r/);
    expect(message('pay')).toMatch(/^Step "a" of pay was recorded as r/);
  });

  it('LEASE-3: a lost lease is retried until its losses are used up, and says so with its prefix', () => {
    const lost = (losses: number): LeaseExpiredError =>
      new LeaseExpiredError({ stage: 's', worker: 'w', losses, maxLosses: 5 });
    expect(lost(4).retryable).toBe(true);
    expect(lost(5).retryable).toBe(false);
    expect(lost(5).message).toMatch(/^LEASE_HEARTBEAT_LOST: /);
  });

  it('LEASE-4: the message of an absolute cap begins with its prefix', () => {
    expect(new LeaseAbsoluteCapError({ stage: 's', worker: 'w', cap: '1 h' }).message).toMatch(/^LEASE_ABSOLUTE_CAP: /);
  });

  it('RUN-4: what result rejects with names the run, the code, the node and the message', () => {
    const error = new RunFailedError({ runId, node: null, failureCode: 'EXCEPTION', failureMessage: 'no' });
    expect(error).toMatchObject({ runId, failureCode: 'EXCEPTION', failureMessage: 'no', node: undefined });
    expect(error.message).toBe('Run r1 failed with EXCEPTION: no');
  });

  it('DEF-3: a mistyped workflow is met with the name that was meant, a strange one with the known ones', () => {
    const known = ['document-analysis', 'expense-approval'];
    expect(new UnknownWorkflowError({ workflow: 'documnet-analysis', known }).message).toContain(
      'Did you mean "document-analysis"?',
    );
    const strange = new UnknownWorkflowError({ workflow: 'zzz', known }).message;
    expect(strange).not.toContain('Did you mean');
    expect(strange).toContain('Known: document-analysis, expense-approval.');
    expect(new UnknownWorkflowError({ workflow: 'zzz' }).message).not.toContain('Known');
  });

  it('DEF-3: all complaints stand in one message, each with its place', () => {
    const complaints = [
      { place: 'InvoiceModule › Approve', problem: 'has no execute(ctx).', todo: 'Add it.' },
      { place: 'Invoices', problem: 'has an empty pipeline.' },
    ];
    const error = new InvalidDefinitionError({ complaints });
    expect(error.complaints).toEqual(complaints);
    expect(error.message).toBe(
      'The workflow definitions are not valid:\n  - InvoiceModule › Approve: has no execute(ctx). Add it.\n  - Invoices: has an empty pipeline.',
    );
  });

  it('DEF-5: the issues of a schema are on the error and in its message', () => {
    const issues = [{ path: ['items', 3, 'at'], message: 'Invalid date' }];
    for (const error of [
      new InvalidEventError({ what: 'w', issues }),
      new InvalidInputError({ what: 'w', issues }),
      new InvalidConfigError({ place: 'w.a', issues }),
    ]) {
      expect(error.issues).toBe(issues);
      expect(error.message).toContain('items.3.at: Invalid date');
    }
    expect(new InvalidOptionsError({ problems: [{ path: 'a.b', message: 'no' }] }).problems).toHaveLength(1);
    expect(new InvalidStepError({ what: 'w', problems: [{ path: 'a', message: 'no' }] }).problems).toHaveLength(1);
    expect(new InvalidOutputError({ path: '$.a', reason: 'is a Date' })).toMatchObject({
      path: '$.a',
      reason: 'is a Date',
    });
    expect(new LimitExceededError({ ...limit, code: 'GRAPH_TOO_LARGE' })).toMatchObject({
      limit: 'limits.maxStageRuns',
      value: 200,
    });
    expect(new StageAbortedError({ stage: 's', reason: 'timeout' }).reason).toBe('timeout');
  });
});
