import { ExpenseApp } from '../../sample/04-expenses/story/expense-app.js';
import { BANK_STATEMENT, EXPENSE_APPROVAL } from '../../sample/04-expenses/workflow/graphs.js';
import { testServerUrl } from '../support/database.js';
import { forkProcess } from '../support/processes.js';

describe('sample 04, expenses', () => {
  let app: ExpenseApp;

  beforeAll(async () => {
    app = await ExpenseApp.open(testServerUrl());
    await app.as('admin').publish(EXPENSE_APPROVAL);
    await app.as('admin').publish(BANK_STATEMENT);
  });
  afterAll(() => app.close());

  async function filed(amount: number): Promise<{ id: string; runId: string }> {
    const { body } = await app.as('ann').file(amount, 'a thing');
    await app.settle();
    return body;
  }
  const expense = async (id: string) => (await app.as('ann').expense(id)).body;

  it('GRAPH-2: an admin is told over HTTP what is wrong with a graph, and with a better one nothing', async () => {
    const faulty = { ...EXPENSE_APPROVAL, edges: EXPENSE_APPROVAL.edges.slice(1) };
    const { status, body } = await app.as('admin').validate(faulty);
    expect(status).toBe(200);
    expect(body.valid).toBe(false);
    expect(body.problems).toContainEqual(expect.objectContaining({ code: 'MISSING_EDGE', path: '$.nodes[0]' }));
    expect((await app.as('admin').validate(EXPENSE_APPROVAL)).body).toEqual({ valid: true, problems: [] });
    expect(await app.as('admin').publish(faulty)).toMatchObject({ status: 422, body: { code: 'INVALID_GRAPH' } });
  });

  it('RUN-7: an admin is told over HTTP what a graph would do', async () => {
    const { id } = await filed(20);
    const graph = EXPENSE_APPROVAL;
    const { status, body } = await app.as('admin').dryRun({ graph, input: { amount: 2_400 }, expense: id });
    expect(status).toBe(200);
    expect(body).toMatchObject({ ends: 'completed', outcome: 'paid', problems: [] });
    expect(body.path[1]).toMatchObject({
      node: 'sign',
      would: 'Asks bob, cleo and dan, of whom 2 must agree, within 5 d, and goes on to approve.',
      escalations: ['After 2 d, if it is still open: tells cfo.'],
    });
    const refused = await app.as('admin').dryRun({
      graph,
      input: { amount: 2_400 },
      expense: id,
      outcomes: { sign: 'rejected' },
    });
    expect(refused.body.path.map(({ node }) => node)).toEqual(['large', 'sign', 'reject', 'refused']);
    expect(await app.as('admin').dryRun({ graph, input: {}, expense: id })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT' },
    });
  });

  it('GRAPH-5, TRIG-2: a small expense is paid once the bank says so, signed', async () => {
    const { id } = await filed(400);
    expect(await expense(id)).toMatchObject({ status: 'approved', run: { status: 'RUNNING' } });
    expect((await app.bankBooks(id, 'r-400', 'whsec_c29tZWJvZHkgZWxzZSwgd2hvIGlzIG5vdCBhIGJhbms=')).status).toBe(401);
    expect(await expense(id)).toMatchObject({ status: 'approved' });
    expect((await app.bankBooks(id, 'r-400')).status).toBe(202);
    expect(await expense(id)).toMatchObject({
      status: 'paid',
      run: { status: 'COMPLETED', problem: null },
      moves: ['open → approved', 'approved → paid (r-400)'],
    });
  });

  it('APPR-1, ESC-1: of three leads two must agree; the CFO is told after two days, once', async () => {
    const { id, runId } = await filed(2_400);
    expect((await app.as('ann').inbox()).body).toEqual([]);
    expect((await app.as('bob').decide(runId, 'approved')).status).toBe(202);
    const before = app.told.length;
    await app.travel('2 days');
    expect(app.told.slice(before)).toEqual(['cfo: An expense waits.']);
    expect((await expense(id)).status).toBe('open');
    await app.as('dan').decide(runId, 'approved');
    await app.settle();
    expect((await expense(id)).status).toBe('approved');
    expect((await app.as('cleo').inbox()).body.filter((ask) => ask.runId === runId)).toEqual([]);
    expect(app.orders).toContain(2_400);
  });

  it('APPR-1: two who do not agree end it, and nothing is paid', async () => {
    const { id, runId } = await filed(9_000);
    await app.as('bob').decide(runId, 'rejected');
    await app.as('cleo').decide(runId, 'rejected');
    await app.settle();
    expect(await expense(id)).toMatchObject({ status: 'rejected', run: { status: 'COMPLETED' } });
    expect(app.orders).not.toContain(9_000);
  });

  it('prints the story and ends, as a process, and leaves nothing behind', async () => {
    const sample = forkProcess('test/e2e/sample-04.process.ts', { env: { DATABASE_URL: testServerUrl() } });
    expect(await sample.ended).toEqual({ code: 0, signal: null });
    expect(sample.output).toContain('Asks bob, cleo and dan, of whom 2 must agree');
    expect(sample.output).toContain('told: cfo: An expense waits.');
    expect(sample.output).toContain('a message with a wrong signature: 401');
    expect(sample.output).toContain('it is paid: open → approved, approved → paid (r-2)');
    expect(sample.output).toContain('it is rejected: open → rejected');
    expect(sample.output).toContain('The bank was asked for 400 and 2400.');
  });
});
