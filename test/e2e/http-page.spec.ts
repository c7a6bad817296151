import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { Body, Controller, Get, type INestApplication, Param, Post, UseGuards } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { TestingModule } from '@nestjs/testing';
import { ClsModule } from 'nestjs-cls';
import { ApprovalsService, DefinitionsService, WorkflowService } from 'nestjs-workflow-engine';
import { WorkflowTester } from 'nestjs-workflow-engine/testing';
import { Sessions, SignedIn, WorkflowErrorFilter } from './http-example.js';

@Controller()
@UseGuards(SignedIn)
class EverythingController {
  constructor(
    private readonly workflows: WorkflowService,
    private readonly definitions: DefinitionsService,
    private readonly approvals: ApprovalsService,
  ) {}

  @Post('graphs')
  publish(@Body() graph: object) {
    return this.definitions.publish(graph);
  }

  @Post('runs/:workflow')
  start(@Param('workflow') id: string, @Body() input: object) {
    return this.workflows.start(id, input);
  }

  @Get('runs/:id')
  get(@Param('id') id: string) {
    return this.workflows.get(id);
  }

  @Get('inbox')
  inbox() {
    return this.approvals.inbox();
  }

  @Post('rounds/:id/:answer')
  decide(@Param('id') id: string, @Param('answer') answer: 'approved' | 'rejected') {
    return this.approvals.decide(id, answer);
  }
}

const SIGN = {
  id: 'sign',
  input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  nodes: [
    { id: 'sign', type: 'approval', config: { approvers: ['bob', 'cleo'] } },
    { id: 'end', type: 'end' },
  ],
  edges: [
    { from: 'sign', outcome: 'approved', to: 'end' },
    { from: 'sign', outcome: 'rejected', to: 'end' },
  ],
};

describe('docs/http.md', () => {
  const page = readFileSync('docs/http.md', 'utf8');

  it('AUTH-3: shows the guard and the filter that are run here, to the letter', () => {
    const example = readFileSync('test/e2e/http-example.ts', 'utf8');
    const parts = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, part]) => part!);
    const [guard, , filter] = parts;
    expect(example.slice(example.indexOf('@Injectable()\nexport class SignedIn'))).toBe(`${guard}\n${filter}`);
  });

  it.each([
    ['Express', (module: TestingModule) => module.createNestApplication({ logger: false })],
    ['Fastify', (module: TestingModule) => module.createNestApplication(new FastifyAdapter(), { logger: false })],
  ])(
    'AUTH-3, OWNER-5: on %s each caller is who he is, and what he did wrong has a status and a code',
    async (_name, create) => {
      let http!: INestApplication;
      const tester = await WorkflowTester.create({
        store: 'memory',
        imports: [ClsModule.forRoot({ global: true, middleware: { mount: true } })],
        workflow: { owners: { resolve: (cls) => cls.get('team') } },
        controllers: [EverythingController],
        providers: [Sessions, { provide: APP_FILTER, useClass: WorkflowErrorFilter }],
        createApp: (module) => (http = create(module)),
      });
      try {
        await http.listen(0, '127.0.0.1');
        const { port } = http.getHttpServer().address() as AddressInfo;
        const call = async (who: string, method: string, path: string, body?: object): Promise<[number, any]> => {
          const headers = { authorization: `Bearer ${who}`, 'content-type': 'application/json' };
          const given = { method, headers, ...(body && { body: JSON.stringify(body) }) };
          const response = await fetch(`http://127.0.0.1:${port}/${path}`, given);
          return [response.status, await response.json()];
        };
        const post = (who: string, path: string, body = {}) => call(who, 'POST', path, body);
        expect((await call('', 'GET', 'inbox'))[0]).toBe(403);
        expect(await post('ann@a', 'graphs', { id: 'sign' })).toMatchObject([400, { code: 'INVALID_GRAPH' }]);
        expect((await post('ann@a', 'graphs', SIGN))[0]).toBe(201);
        expect(await post('ann@b', 'runs/sign', { amount: 1 })).toMatchObject([404, { code: 'UNKNOWN_WORKFLOW' }]);
        expect(await post('ann@a', 'runs/sign', {})).toMatchObject([400, { code: 'INVALID_INPUT' }]);
        const [, { run }] = await post('ann@a', 'runs/sign', { amount: 1 });
        await tester.drain();
        expect((await call('ann@b', 'GET', `runs/${run.id}`))[0]).toBe(404);
        expect(await call('ann@a', 'GET', `runs/${run.id}`)).toMatchObject([200, { owner: 'a', actor: { id: 'ann' } }]);
        const [, { asks }] = await call('bob@a', 'GET', 'inbox');
        expect(await call('bob@b', 'GET', 'inbox')).toMatchObject([200, { asks: [] }]);
        const { round } = asks[0];
        expect(await post('ann@a', `rounds/${round}/approved`)).toMatchObject([403, { code: 'NOT_AN_APPROVER' }]);
        expect(await post('bob@b', `rounds/${round}/approved`)).toMatchObject([404, { code: 'APPROVAL_NOT_FOUND' }]);
        expect((await post('bob@a', `rounds/${round}/approved`))[0]).toBe(201);
        expect(await post('cleo@a', `rounds/${round}/rejected`)).toMatchObject([409, { code: 'ROUND_CLOSED' }]);
      } finally {
        await tester.close();
      }
    },
  );
});
