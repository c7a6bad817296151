import { readFileSync } from 'node:fs';
import { WorkflowService } from 'nestjs-workflow-engine';
import { WorkflowTester } from 'nestjs-workflow-engine/testing';
import { CollectPayment, Mailer, Order } from './waits-example.js';

const paid = (orderId: string, amount: number) => ({
  key: 'payment.received',
  subject: { type: 'order', id: orderId },
  payload: { amount, receipt: `R-${orderId}` },
});

describe('docs/waits-and-events.md', () => {
  let tester: WorkflowTester;
  beforeAll(async () => {
    tester = await WorkflowTester.create({ store: 'memory', workflow: {}, providers: [Mailer, CollectPayment, Order] });
  });
  afterAll(() => tester.close());

  const sent = (about: string): string[] => tester.app.get(Mailer).sent.filter((text) => text.includes(about));

  it('STEP-1: shows the stage that is run here, to the letter', () => {
    const page = readFileSync('docs/waits-and-events.md', 'utf8');
    const [, first] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
    const example = readFileSync('test/e2e/waits-example.ts', 'utf8');
    expect(first).toBe(example.slice(example.indexOf('@Stage')));
  });

  it('STEP-4: the event ends the wait, the sleep its two days, and each mail goes out once', async () => {
    const run = await tester.start(Order, { orderId: 'A', total: 10 });
    await tester.drain();
    expect((await tester.history(run)).run.waiting).toBe(true);
    await tester.deliver(paid('A', 9));
    await tester.deliver(paid('B', 10));
    expect((await tester.history(run)).stages[0]!.steps.map(({ name, status }) => [name, status])).toEqual([
      ['ask', 'completed'],
      ['payment', 'waiting'],
    ]);
    await tester.deliver(paid('A', 10));
    await tester.travel('47 hours');
    expect(sent('for A.')).toHaveLength(1);
    await tester.travel('1 hour');
    expect(await tester.result(run)).toEqual({ receipt: 'R-A' });
    expect(sent('for A.')).toEqual(['Please pay 10 for A.', 'Thank you for A.']);
  });

  it('WAIT-3: an event that came first is not lost', async () => {
    await tester.deliver(paid('early', 1));
    const run = await tester.start(Order, { orderId: 'early', total: 1 });
    await tester.travel('2 days');
    expect(await tester.result(run)).toEqual({ receipt: 'R-early' });
  });

  it('STEP-4: without one the wait is over after its fortnight', async () => {
    const run = await tester.start(Order, { orderId: 'never', total: 1 });
    await tester.travel('13 days');
    expect(await tester.status(run)).toBe('RUNNING');
    await tester.travel('1 day');
    expect(await tester.result(run)).toEqual({ receipt: null });
  });

  it('RUN-5: a rerun asks again, and waits again', async () => {
    const run = await tester.start(Order, { orderId: 'again', total: 1 });
    await tester.deliver(paid('again', 1));
    await tester.travel('2 days');
    await tester.app.get(WorkflowService).rerunFrom(run, 'collect-payment');
    await tester.drain();
    expect(sent('for again.')).toHaveLength(3);
    expect(await tester.status(run)).toBe('RUNNING');
    await tester.deliver(paid('again', 2));
    await tester.travel('2 days');
    expect(await tester.status(run)).toBe('COMPLETED');
  });
});
