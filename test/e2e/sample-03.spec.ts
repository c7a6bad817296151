import { InvoiceApp } from '../../sample/03-invoices/story/invoice-app.js';
import { testServerUrl } from '../support/database.js';
import { forkProcess } from '../support/processes.js';

describe('sample 03, invoices of two teams', () => {
  let app: InvoiceApp;

  beforeAll(async () => {
    app = await InvoiceApp.open(testServerUrl());
  });
  afterAll(() => app.close());

  const runs = async (team: string | null): Promise<unknown[]> =>
    app.database.as(team, 'SELECT DISTINCT owner_id AS owner FROM workflow_runs');

  it('AUTH-3: a run acts on behalf of whoever wrote the invoice, and goes as far as they may', async () => {
    const { body: small } = await app.as('cleo').create('Ada', 1_000);
    expect((await app.as('cleo').ended(small.id)).body).toMatchObject({
      status: 'sent',
      run: { status: 'COMPLETED' },
      problem: null,
    });
    const { body: large } = await app.as('cleo').create('Ben', 1_001);
    const { body } = await app.as('cleo').ended(large.id);
    expect(body).toMatchObject({ status: 'new', run: { status: 'FAILED' } });
    expect(body.problem).toContain(
      'Stage send-invoice was denied the ability "send": a clerk sends invoices of up to 1,000.',
    );
    const { body: byLead } = await app.as('nora').create('Cy', 1_001);
    expect((await app.as('nora').ended(byLead.id)).body.status).toBe('sent');
  });

  it('AUTH-5, AUDIT-1: who may not retry is told so, and both calls are kept', async () => {
    const { body: large } = await app.as('cleo').create('Dora', 5_000);
    await app.as('cleo').ended(large.id);
    const refused = await app.as('cleo').retry(large.id, 'please');
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain('runs are looked after by the lead of the team');
    await app.database.admin(`UPDATE members SET role = 'lead' WHERE id = 'cleo'`);
    expect((await app.as('nora').retry(large.id, 'Cleo is a lead now')).status).toBe(202);
    expect((await app.as('nora').ended(large.id)).body).toMatchObject({ status: 'sent', problem: null });
    await app.database.admin(`UPDATE members SET role = 'clerk' WHERE id = 'cleo'`);
    const { body: kept } = await app.as('nora').audit();
    expect(kept.slice(0, 2)).toEqual([
      { who: 'Nora', what: 'retry', allowed: true, why: 'Cleo is a lead now' },
      { who: 'Cleo', what: 'retry', allowed: false, why: 'runs are looked after by the lead of the team' },
    ]);
    expect((await app.as('sven').audit()).body).toEqual([]);
  });

  it('OWNER-4: another team reads none of it, over HTTP or by SQL, and its own as ever', async () => {
    const { body: ours } = await app.as('nora').create('Eve', 7);
    await app.as('nora').ended(ours.id);
    expect((await app.as('sven').list()).body).toEqual([]);
    expect((await app.as('sven').get(ours.id)).status).toBe(404);
    expect((await app.as('sven').retry(ours.id, 'mine')).status).toBe(404);
    const { body: theirs } = await app.as('sven').create('Fay', 8);
    expect((await app.as('sven').ended(theirs.id)).body.status).toBe('sent');
    expect(await runs('north')).toEqual([{ owner: 'north' }]);
    expect(await runs('south')).toEqual([{ owner: 'south' }]);
    expect(await runs(null)).toEqual([]);
    const changed = await app.database.as(
      'south',
      `UPDATE invoices SET amount = 0 WHERE "teamId" = 'north' RETURNING id`,
    );
    expect(changed.flat().filter((row) => typeof row === 'object')).toEqual([]);
  });

  it('TX-3: an invoice is booked once, in the transaction that ends its run', async () => {
    const { body } = await app.as('nora').create('Gus', 30);
    await app.as('nora').ended(body.id);
    const booked = await app.database.as('north', `SELECT amount FROM bookings WHERE "invoiceId" = '${body.id}'`);
    expect(booked).toEqual([{ amount: 30 }]);
  });

  it('AUTH-4: a team that is suspended gets no further, in a sentence that a person can read', async () => {
    await app.database.admin(`UPDATE teams SET suspended = true WHERE id = 'south'`);
    const { body } = await app.as('sven').create('Hal', 5);
    expect((await app.as('sven').ended(body.id)).body.problem).toContain(
      'Stage check-invoice was denied the ability "check": Team South is suspended.',
    );
    await app.database.admin(`UPDATE teams SET suspended = false WHERE id = 'south'`);
  });

  it('says who is to say who they are, and what is wrong with a request', async () => {
    const { status } = await app.as('nobody' as 'nora').list();
    expect(status).toBe(401);
    expect(await app.as('nora').create('', 1)).toMatchObject({ status: 400, body: { code: 'INVALID_BODY' } });
  });

  it('prints the story and ends, as a process, and leaves nothing behind', async () => {
    const sample = forkProcess('test/e2e/sample-03.process.ts', { env: { DATABASE_URL: testServerUrl() } });
    expect(await sample.ended).toEqual({ code: 0, signal: null });
    expect(sample.output).toMatch(/Cleo {2}writes an invoice over 400: +sent/);
    expect(sample.output).toContain('a clerk sends invoices of up to 1,000.');
    expect(sample.output).toContain('runs that are there: North 2, South 0, nobody 0');
    expect(sample.output).toMatch(/Nora {2}tries it again: +sent/);
    expect(sample.output).toContain('audit Cleo asked for retry: denied');
  });
});
