import { readFileSync } from 'node:fs';
import { Inject, Injectable, Module, Scope, type Provider } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import {
  Stage,
  Workflow,
  WorkflowContext,
  WorkflowPolicy,
  WorkflowService,
  type Flow,
  type StageAuthorization,
  type StageAuthorizer,
  type StageContext,
  type WorkflowModuleOptions,
} from 'nestjs-workflow-engine';
import { WorkflowTester } from 'nestjs-workflow-engine/testing';
import { of } from 'rxjs';
import { z } from 'zod';
import { Expense, PayExpense, PayPolicy, Plans, Roles, TeamAuthorizer } from './authorization-example.js';

const ADA = { owner: 'team-a', actor: { id: 'ada' } };
const EXAMPLE = [Roles, PayExpense, PayPolicy, Expense];

let tester: WorkflowTester;
afterEach(() => tester.close());

async function app(
  providers: Provider[],
  authorization: WorkflowModuleOptions['authorization'] = {},
  imports = [] as any[],
) {
  tester = await WorkflowTester.create({ store: 'memory', workflow: { authorization }, providers, imports });
  return tester;
}

/** What becomes of an expense. */
async function pay(amount: number, given: Parameters<WorkflowTester['start']>[2] = ADA): Promise<string> {
  const run = await tester.start(Expense, { amount }, given);
  await tester.drain();
  const { failure, status } = await tester.app.get(WorkflowService).asOperator().get(run);
  return failure ? `${failure.code}: ${failure.message}` : status;
}

describe('docs/authorization.md', () => {
  it('AUTH-2: shows what is run here, to the letter', async () => {
    await app(EXAMPLE);
    const page = readFileSync('docs/authorization.md', 'utf8');
    const example = readFileSync('test/e2e/authorization-example.ts', 'utf8');
    const shown = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!);
    for (const code of [shown[0]!, shown[3]!]) expect(example).toContain(code);
    expect(shown[3]).toContain('class TeamAuthorizer');
  });

  it('AUTH-2, AUTH-4: a policy with what it injects lets a stage go on, or fails it with its reason', async () => {
    await app(EXAMPLE);
    expect(await pay(400)).toBe('COMPLETED');
    expect(await pay(4_000)).toMatch(
      /^AUTHORIZATION_DENIED: Stage pay-expense was denied the ability "expenses.pay": at most 1000 may be paid\. /,
    );
    expect(await pay(400, { owner: 'team-a', actor: { id: 'bob' } })).toContain('at most 0 may be paid');
  });

  it('AUTH-4: a person who has changed what there was to change retries it', async () => {
    await app(EXAMPLE);
    const run = await tester.start(Expense, { amount: 4_000 }, ADA);
    await tester.drain();
    tester.app.get(Roles).mayPay.set('ada', 5_000);
    await tester.app.get(WorkflowService).asOperator().retry(run);
    await tester.drain();
    expect(await tester.result(run)).toEqual({ paid: 4_000 });
  });

  it('AUTH-3: without a policy, and while one throws, nothing is paid', async () => {
    await app([Roles, PayExpense, Expense]);
    expect(await pay(1)).toContain('no policy of this app serves it');
    await tester.close();
    const roles = { limitOf: () => Promise.reject(new Error('password=hunter2')) };
    await app([{ provide: Roles, useValue: roles }, PayExpense, PayPolicy, Expense]);
    const failure = await pay(1);
    expect(failure).toContain('the policy threw an error');
    expect(failure).not.toContain('hunter2');
  });

  it('AUTH-2: an authorizer of the host gets every call, and asks the policies itself', async () => {
    await app([...EXAMPLE, Plans, TeamAuthorizer], { authorizer: TeamAuthorizer });
    expect(await pay(400)).toBe('COMPLETED');
    expect(await pay(4_000)).toContain('at most 1000 may be paid');
    tester.app.get(Plans).suspended.add('team-a');
    expect(await pay(400)).toContain('this team is suspended');
  });
});

describe('authorization', () => {
  it('AUTH-1: the module names abilities by stage, null too, before what stages name', async () => {
    const asked: unknown[] = [];
    @WorkflowPolicy(['finance.pay', 'finance.see'])
    class FinancePolicy {
      authorize({ ability }: StageAuthorization) {
        asked.push(ability);
        return of(true);
      }
    }
    await app([...EXAMPLE, FinancePolicy], { abilities: { 'pay-expense': 'finance.pay' } });
    expect(await pay(4_000)).toBe('COMPLETED');
    expect(asked).toEqual(['finance.pay']);
    await tester.close();
    await app(EXAMPLE, { abilities: { 'pay-expense': null } });
    expect(await pay(4_000)).toBe('COMPLETED');
  });

  it('AUTH-2, OWNER-1: a request-scoped policy of another module is made for each call, in the run’s context', async () => {
    const made: unknown[] = [];
    @Injectable({ scope: Scope.REQUEST })
    class Call {
      constructor(@Inject(REQUEST) readonly request: object) {
        made.push(request);
      }
    }
    const seen: unknown[] = [];
    @WorkflowPolicy('expenses.pay')
    class ScopedPolicy {
      constructor(
        readonly call: Call,
        private readonly context: WorkflowContext,
      ) {}

      authorize({ owner }: StageAuthorization) {
        seen.push([owner, this.context.currentOwnerId(), this.context.currentActor()]);
        return true;
      }
    }
    @Module({ providers: [Call, ScopedPolicy] })
    class PolicyModule {}

    await app([PayExpense, Expense], {}, [PolicyModule]);
    await pay(1);
    await pay(2, { owner: 'team-b', actor: { id: 'bob' } });
    expect(seen).toEqual([
      ['team-a', 'team-a', { id: 'ada' }],
      ['team-b', 'team-b', { id: 'bob' }],
    ]);
    const request = { runId: expect.any(String), stageRunId: expect.any(String), attempt: 1 };
    expect(made).toEqual([
      { ...request, ownerId: 'team-a' },
      { ...request, ownerId: 'team-b' },
    ]);
  });

  it('AUTH-1: an authorizer that is an object is asked about stages without an ability, but for those without side effects', async () => {
    const asked: unknown[] = [];
    const authorizer: StageAuthorizer = {
      authorize: (request) => (asked.push(request.kind === 'stage' && [request.stage.id, request.ability]), true),
    };
    const { Quiet, Loud, Both } = stages();
    tester = await WorkflowTester.create({
      store: 'memory',
      workflow: { authorization: { authorizer } },
      providers: [Quiet, Loud, Both],
    });
    await tester.start(Both, {});
    await tester.drain();
    expect(asked).toEqual([['loud', null]]);
  });

  it.each<[string, () => unknown, string]>([
    ['throws', () => raise(), 'the policy threw an error'],
    ['rejects', () => Promise.reject(new Error('no')), 'the policy threw an error'],
    ['hangs', () => new Promise(() => undefined), 'the policy did not answer within 50 ms'],
    ['returns undefined', () => undefined, 'the policy gave no answer'],
  ])('AUTH-3, AUTH-4: a policy that %s has denied, and the handler is not run', async (_what, answer, reason) => {
    const ran: unknown[] = [];
    let allowed = false;
    @WorkflowPolicy('expenses.pay')
    class OddPolicy {
      authorize() {
        return (allowed || answer()) as never;
      }
    }
    const given = { execute: (ctx: { input: unknown }) => (ran.push(ctx.input), { paid: 1 }) };
    await app(
      [
        { provide: PayExpense, useValue: Object.assign(Object.create(PayExpense.prototype), given) },
        OddPolicy,
        Expense,
      ],
      reason.endsWith('50 ms') ? { timeout: 50 } : {},
    );
    expect(await pay(1)).toContain(
      `AUTHORIZATION_DENIED: Stage pay-expense was denied the ability "expenses.pay": ${reason}`,
    );
    expect(ran).toEqual([]);
    allowed = true;
    expect(await pay(1)).toBe('COMPLETED');
    expect(ran).toHaveLength(1);
  });

  it('AUTH-2: an authorizer that nobody provides stops the app, saying so', async () => {
    await app([]);
    const broken = WorkflowTester.create({
      store: 'memory',
      workflow: { authorization: { authorizer: TeamAuthorizer } },
      providers: EXAMPLE,
    });
    await expect(broken).rejects.toThrow(/authorization\.authorizer.*TeamAuthorizer is no provider of this app/);
  });
});

function raise(): never {
  throw new Error('no');
}

function stages() {
  const any = { input: z.any(), output: z.any() };
  @Stage({ id: 'quiet', sideEffect: false, ...any })
  class Quiet {
    execute(_ctx: StageContext<typeof any>) {}
  }
  @Stage({ id: 'loud', ...any })
  class Loud {
    execute(_ctx: StageContext<typeof any>) {}
  }
  @Workflow({ id: 'both', version: 1, input: any.input })
  class Both {
    define(flow: Flow<typeof any.input>) {
      return flow.pipe(Quiet).pipe(Loud);
    }
  }
  return { Quiet, Loud, Both };
}
