import type { OpenWait } from '../ports/step-store.js';
import type { DeliveryOrder } from './delivery-order.js';
import type { Suspension } from './replay-host.js';
import { leaseWait } from './replay-rows.js';
import type { AnyCall } from './step-call.js';
import { LEASE_KEY } from './step-key.js';

/** Which of a body's calls wait, and what of that is to be written. */
export class OpenWaits {
  constructor(
    private readonly calls: ReadonlyMap<string, AnyCall>,
    private readonly order: DeliveryOrder,
  ) {}

  /** Calls that somebody waits for, and that something outside ends. */
  wanted(): AnyCall[] {
    return [...this.calls.values()].filter((call) => call.wanted);
  }

  /** Of these, those whose row does not stand as it is to stand. */
  unsaved(): AnyCall[] {
    return this.wanted().filter((call) => call.phase === 'waiting' && mustWrite(call));
  }

  /** As they are to be written. */
  rows(calls: readonly AnyCall[]): OpenWait[] {
    return calls.map((call) => ({ ...call.plan.wait(call), epoch: call.epoch }));
  }

  /** They stand in the store now. */
  saved(calls: readonly AnyCall[]): void {
    for (const call of calls) {
      call.saved = true;
      call.savedEpoch = call.epoch;
    }
  }

  /** What the stage suspends with; undefined while nobody waits for anything. */
  suspension(): Suspension | undefined {
    const wanted = this.wanted();
    if (wanted.length === 0) return undefined;
    const waits = this.rows(this.unsaved());
    const keep = wanted.filter(({ phase }) => phase === 'waiting').map(({ key }) => key);
    const leases = wanted.filter(({ phase }) => phase === 'blocked').map(({ row }) => row!.leaseInMs ?? 0);
    if (leases.length > 0) {
      waits.push(leaseWait(Math.min(...leases), this.order.delivered));
      keep.push(LEASE_KEY);
    }
    return { waits, keep, orders: this.order.unwritten };
  }
}

/** Of waits for one message the wait that was awaited last is to get it, so that counts too. */
function mustWrite({ saved, savedEpoch, epoch, plan: { kind } }: AnyCall): boolean {
  return !saved || ((kind === 'signal' || kind === 'event') && savedEpoch !== epoch);
}
