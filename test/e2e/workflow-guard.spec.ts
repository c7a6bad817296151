import type { AddressInfo } from 'node:net';
import { Controller, Get, Injectable, Param, Post, UseGuards, type INestApplication, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ClsModule, ClsService } from 'nestjs-cls';
import {
  AuditService,
  deny,
  Stage,
  Workflow,
  WorkflowAbility,
  WorkflowContext,
  WorkflowGuard,
  WorkflowPolicy,
  WorkflowService,
  type AuthorizationRequest,
  type Flow,
  type RequestAuthorization,
  type StageContext,
  type WorkflowModuleOptions,
} from 'nestjs-workflow-engine';
import { WorkflowTester } from 'nestjs-workflow-engine/testing';
import { z } from 'zod';

const any = { input: z.any(), output: z.any() };

@Stage({ id: 'work', ...any })
class Work {
  execute(_ctx: StageContext<typeof any>) {}
}

@Workflow({ id: 'task', version: 1, input: any.input })
class Task {
  define(flow: Flow<typeof any.input>) {
    return flow.pipe(Work);
  }
}

const asked: AuthorizationRequest[] = [];

@WorkflowPolicy(['runs.cancel', 'runs.see'])
class RunsPolicy {
  authorize(request: RequestAuthorization) {
    asked.push(request);
    const actor = request.actor as { id: string };
    if (actor.id === 'slow') return new Promise<boolean>(() => undefined);
    if (actor.id === 'odd') return undefined as never;
    if (actor.id === 'bad') throw new Error('secret');
    return actor.id === 'ada' || deny(`not for ${actor.id}`);
  }
}

/** Called, whatever was asked before. */
const called: string[] = [];

@Controller('runs')
@UseGuards(WorkflowGuard)
class RunsController {
  constructor(private readonly workflows: WorkflowService) {}

  @Post(':id/cancel')
  @WorkflowAbility('runs.cancel', { run: 'id' })
  async cancel(@Param('id') id: string) {
    called.push('cancel');
    await this.workflows.cancel(id, 'by HTTP');
  }

  @Get('odd/:id')
  @WorkflowAbility('runs.see', { run: 'runId' })
  odd() {
    called.push('odd');
  }
}

@Controller('all')
@WorkflowAbility('runs.see')
class AllController {
  @Get()
  list() {
    called.push('list');
    return [];
  }

  @Get('open/:id')
  @WorkflowAbility('runs.cancel', { run: 'id' })
  one() {
    called.push('one');
  }
}

@Controller('free')
class FreeController {
  @Get()
  free() {
    return 'free';
  }
}

/** Stands for the host's own authentication. */
@Injectable()
class Authentication {
  constructor(
    private readonly context: WorkflowContext,
    private readonly cls: ClsService,
  ) {}

  canActivate(context: any): boolean {
    const { headers } = context.switchToHttp().getRequest();
    this.cls.set('team', headers['x-team']);
    if (headers['x-user']) this.context.setActor({ id: headers['x-user'] });
    return true;
  }
}

type Adapter = 'Express' | 'Fastify';

let adapter: Adapter = 'Express';
let tester: WorkflowTester;
afterEach(() => tester.close());

async function serve(controllers: Type[], global: boolean, authorization: WorkflowModuleOptions['authorization'] = {}) {
  asked.length = called.length = 0;
  let http!: INestApplication;
  tester = await WorkflowTester.create({
    store: 'memory',
    imports: [ClsModule.forRoot({ global: true, middleware: { mount: true } })],
    workflow: { authorization, owners: { resolve: (cls) => cls.get('team') } },
    controllers,
    providers: [
      Work,
      Task,
      RunsPolicy,
      { provide: APP_GUARD, useClass: Authentication },
      ...(global ? [{ provide: APP_GUARD, useClass: WorkflowGuard }] : []),
    ],
    createApp: (module) =>
      (http =
        adapter === 'Fastify'
          ? module.createNestApplication(new FastifyAdapter(), { logger: false })
          : module.createNestApplication({ logger: false })),
  });
  await http.listen(0, '127.0.0.1');
  const { port } = http.getHttpServer().address() as AddressInfo;
  return async (method: string, path: string, user?: string, team = 'a') => {
    const headers = { 'x-team': team, ...(user && { 'x-user': user }) };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers });
    const text = await response.text();
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  };
}

const entries = async () => (await tester.app.get(AuditService).asOperator().list()).entries;
const start = () => tester.start(Task, {}, { owner: 'a' });

describe.each<Adapter>(['Express', 'Fastify'])('WorkflowGuard on a controller of %s', (name) => {
  beforeAll(() => {
    adapter = name;
  });
  afterAll(() => {
    adapter = 'Express';
  });

  it('AUTH-5: asks for the actor, the owner and the run of the request; allowed, the method is called', async () => {
    const call = await serve([RunsController], false);
    const run = await start();
    expect(await call('POST', `/runs/${run.id}/cancel?why=secret`, 'ada')).toMatchObject({ status: 201 });
    expect(await tester.status(run)).toBe('CANCELLED');
    expect(asked).toEqual([
      {
        kind: 'request',
        request: { method: 'POST', path: `/runs/${run.id}/cancel` },
        run: { id: run.id, definition: 'task', version: 1, status: 'RUNNING', owner: 'a', subject: null },
        actor: { id: 'ada' },
        owner: 'a',
        ability: 'runs.cancel',
      },
    ]);
  });

  it('AUDIT-1: keeps the request, and what is done in it with its route', async () => {
    const call = await serve([RunsController], false);
    const run = await start();
    await call('POST', `/runs/${run.id}/cancel`, 'eve');
    await call('POST', `/runs/${run.id}/cancel`, 'ada');
    const source = `POST /runs/${run.id}/cancel`;
    expect(await entries()).toMatchObject([
      { action: 'cancel', allowed: true, actor: { id: 'ada' }, reason: 'by HTTP', source },
      { action: 'request', allowed: true, actor: { id: 'ada' }, ability: 'runs.cancel', runId: run.id, source },
      { action: 'request', allowed: false, actor: { id: 'eve' }, reason: 'not for eve', owner: 'a', source },
    ]);
  });

  it.each([
    ['eve', 'not for eve'],
    ['slow', 'the policy did not answer within 50 ms'],
    ['odd', 'the policy gave no answer'],
    ['bad', 'the policy threw an error'],
    [undefined, 'no actor is set here, which the policy does not allow'],
  ])('AUTH-5: %s is answered 403 with the reason, and the method is not called', async (user, reason) => {
    const call = await serve([RunsController], false, user === 'slow' ? { timeout: 50 } : {});
    const run = await start();
    expect(await call('POST', `/runs/${run.id}/cancel`, user)).toMatchObject({
      status: 403,
      body: { statusCode: 403, error: 'Forbidden', code: 'AUTHORIZATION_DENIED', reason },
    });
    expect(called).toEqual([]);
    expect(await tester.status(run)).toBe('RUNNING');
  });

  it('AUTH-5, OWNER-5: a run of another owner is answered 404 as one that is not there, and nobody is asked', async () => {
    const call = await serve([RunsController], false);
    const run = await start();
    const others = await call('POST', `/runs/${run.id}/cancel`, 'ada', 'b');
    expect(others).toMatchObject({ status: 404, body: { code: 'RUN_NOT_FOUND' } });
    for (const id of ['01a00000-0000-7000-8000-000000000000', 'x'])
      expect(await call('POST', `/runs/${id}/cancel`, 'ada', 'b')).toMatchObject({ status: 404 });
    expect([asked, called, await entries()]).toEqual([[], [], []]);
  });

  it('AUTH-5: a parameter that the route does not have is a mistake, and lets nobody through', async () => {
    const call = await serve([RunsController], false);
    expect(await call('GET', '/runs/odd/1', 'ada')).toMatchObject({ status: 500 });
    expect(called).toEqual([]);
  });

  it('AUDIT-1: what can not be kept is not let through', async () => {
    const call = await serve([RunsController], false);
    const run = await start();
    const runtime = tester as unknown as { readonly app: { get(token: symbol, options: object): any } };
    const { store } = await runtime.app.get(Symbol.for('nestjs-workflow-engine:runtime'), { strict: false }).ready();
    store.writeAudit = () => Promise.reject(new Error('away'));
    expect(await call('POST', `/runs/${run.id}/cancel`, 'ada')).toMatchObject({ status: 500 });
    expect(called).toEqual([]);
  });
});

describe('WorkflowGuard for the whole app', () => {
  it('AUTH-5: the method’s ability goes before the controller’s, routes without one pass', async () => {
    const call = await serve([AllController, FreeController], true);
    const run = await start();
    expect(await call('GET', '/free')).toEqual({ status: 200, body: 'free' });
    expect(asked).toEqual([]);
    expect((await call('GET', '/all', 'ada')).status).toBe(200);
    expect((await call('GET', `/all/open/${run.id}`, 'ada')).status).toBe(200);
    expect(asked).toMatchObject([
      { ability: 'runs.see', run: null, owner: 'a' },
      { ability: 'runs.cancel', run: { id: run.id } },
    ]);
    expect((await call('GET', '/all', 'eve')).status).toBe(403);
    expect(called).toEqual(['list', 'one']);
    expect((await entries()).map(({ runId, source }) => [runId, source]).reverse()).toEqual([
      [null, 'GET /all'],
      [run.id, `GET /all/open/${run.id}`],
      [null, 'GET /all'],
    ]);
  });

  it('AUTH-2, AUTH-5: an authorizer of the host gets it', async () => {
    const authorize = (request: AuthorizationRequest) => (asked.push(request), false);
    const call = await serve([AllController], true, { authorizer: { authorize } });
    expect(await call('GET', '/all', 'ada')).toMatchObject({ status: 403, body: { reason: null } });
    expect(asked).toMatchObject([{ kind: 'request', ability: 'runs.see' }]);
  });

  it('AUTH-5: elsewhere than in HTTP it says so, and lets nobody through', async () => {
    await serve([AllController], true);
    const guard = tester.app.get(WorkflowGuard, { strict: false });
    const context = (method: Function, type: object) => ({
      getHandler: () => method,
      getClass: () => type,
      getType: () => 'rpc',
    });
    await expect(guard.canActivate(context(AllController.prototype.list, AllController) as never)).rejects.toThrow(
      /AllController\.list[^]*guards HTTP routes only, and this is rpc/,
    );
    expect(await guard.canActivate(context(FreeController.prototype.free, FreeController) as never)).toBe(true);
  });
});
