import type { TestingModule } from '@nestjs/testing';
import { AuditService, WorkflowError, WorkflowService } from 'nestjs-workflow-engine';
import { DataSource } from 'typeorm';
import { startApp } from './app.js';
import { Greeting } from './greeting.js';

type Call = (workflows: WorkflowService, audit: AuditService) => Promise<unknown>;

/** Each is what somebody's request may hold. A statement that fails on one ends the transaction that it is a part of. */
const CALLS: readonly (readonly [string, string, Call])[] = [
  ['the id of a workflow with U+0000', 'UNKNOWN_WORKFLOW', (workflows) => workflows.start('a\0b', {})],
  ['a longer id than any has', 'UNKNOWN_WORKFLOW', (workflows) => workflows.start('a'.repeat(20_000), {})],
  ['such an id, awaited', 'UNKNOWN_WORKFLOW', (workflows) => workflows.startAndWait('a\0b', {})],
  ['such an id, run dry', 'UNKNOWN_WORKFLOW', (workflows) => workflows.dryRun('a\0b', {})],
  ['such an id to list by', 'INVALID_OPTIONS', (workflows) => workflows.list({ definition: 'a\0b' })],
  ['such an id to count by', 'INVALID_OPTIONS', (workflows) => workflows.count('a\0b')],
  ['such an action', 'INVALID_OPTIONS', (_, audit) => audit.list({ action: 'a\0b' })],
  ['no list of starts', 'INVALID_OPTIONS', (workflows) => workflows.startMany(Greeting, {} as never)],
  ['a start that is none', 'INVALID_OPTIONS', (workflows) => workflows.startMany(Greeting, [null as never])],
  ...['a\0b', '\ud800', ' ', 'a'.repeat(501)].flatMap((owner): (readonly [string, string, Call])[] => [
    ['an owner that is none', 'INVALID_OPTIONS', (workflows) => workflows.start(Greeting, { name: 'A' }, { owner })],
    ['an owner of an event that is none', 'INVALID_OPTIONS', (workflows) => workflows.emit({ key: 'k', owner })],
  ]),
  ...[8.64e15, -8.64e15, Date.UTC(10_000, 0)].map((ms): readonly [string, string, Call] => [
    'an instant that is too far off',
    'INVALID_OPTIONS',
    (workflows) => workflows.start(Greeting, { name: 'A' }, { startAt: new Date(ms) }),
  ]),
];

describe('texts and instants that the database does not take', () => {
  let app: TestingModule;

  beforeAll(async () => {
    app = await startApp({ workflow: { worker: false } });
  });
  afterAll(() => app.close());

  it.each(CALLS)('FAULT A1, RUN-1: %s is refused with %s before any statement', async (_, code, call) => {
    const error = await call(app.get(WorkflowService), app.get(AuditService)).catch((thrown: unknown) => thrown);
    expect(WorkflowError.is(error) ? error.code : error).toBe(code);
  });

  it('FAULT A1, RUN-1: a transaction of the host goes on after such a call', async () => {
    const workflows = app.get(WorkflowService);
    await app.get(DataSource).transaction(async (manager) => {
      for (const options of [{ startAt: new Date(8.64e15) }, { owner: 'a\0b' }]) {
        const refused = workflows.start(Greeting, { name: 'A' }, { manager, ...options });
        await expect(refused).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
      }
      await expect(manager.query('SELECT 1 AS one')).resolves.toEqual([{ one: 1 }]);
    });
  });
});
