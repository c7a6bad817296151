import type { LedgerRow } from '../../../../lib/engine/ports/index.js';
import { DeliveryOrder } from '../../../../lib/engine/steps/delivery-order.js';

const row = (key: string, seq: number | null, given: Partial<LedgerRow> = {}): LedgerRow => ({
  ...{ stageRunId: 's', key, kind: 'run', status: 'completed', seq, attempt: 1, result: 'null', failure: null },
  ...{
    timedOut: false,
    reopened: false,
    token: null,
    leaseInMs: null,
    expiresInMs: null,
    childRunId: null,
    state: null,
  },
  ...given,
});
const nobody = () => false;

it('STEP-2: a recorded outcome that the body has not asked for holds back later ones, and those without a place', () => {
  const order = new DeliveryOrder();
  order.learn([row('a', 1), row('b', 2), row('c', null)]);
  expect(order.holdsBack(row('a', 1), nobody)).toBe(false);
  expect(order.holdsBack(row('b', 2), nobody)).toBe(true);
  expect(order.holdsBack(row('c', null), nobody)).toBe(true);
  expect(order.holdsBack(row('b', 2), (key) => key === 'a')).toBe(false);
});

it('STEP-2: what the body has got holds back nothing, however often the ledger is read', () => {
  const order = new DeliveryOrder();
  order.learn([row('a', 1)]);
  order.deliver(row('a', 1));
  order.learn([row('a', 1), row('b', null)]);
  expect(order.holdsBack(row('b', null), nobody)).toBe(false);
  expect(order.delivered).toBe(1);
});

it('STEP-2: a place that is being written holds back later ones, until it is', () => {
  const order = new DeliveryOrder();
  const seq = order.begin();
  expect(order.holdsBack(row('b', null), nobody)).toBe(true);
  order.written(seq);
  expect(order.holdsBack(row('b', null), nobody)).toBe(false);
});

it('STEP-2: what came from outside gets its place when it is delivered, and the next write takes that along', () => {
  const order = new DeliveryOrder();
  order.learn([row('a', 4), row('b', null)]);
  order.deliver(row('b', null));
  expect(order.takeUnwritten()).toEqual([{ key: 'b', seq: 5 }]);
  expect(order.unwritten).toEqual([]);
  order.giveBack([{ key: 'b', seq: 5 }]);
  expect(order.unwritten).toEqual([{ key: 'b', seq: 5 }]);
});
