import type { WorkflowStore } from '../../lib/engine/ports/index.js';
import { wrapStore } from './store-calls.js';

/**
 * Where one app stands still for ever, as if its process were dead: `'before finish stock'`, `'after claim #2'` (the second
 * time). From then on nothing of it moves but its heartbeats, whose leases are alive until the process really dies.
 *
 * Several apps of one process stand still at a point each, and go with one `kill -9`.
 */
export class CrashPoint {
  readonly #name: string | undefined;
  #left: number;
  #reached = false;

  constructor(
    point: string | undefined,
    private readonly onReached: () => void,
  ) {
    const [name, times = '1'] = point?.split(' #') ?? [];
    this.#name = name;
    this.#left = Number(times);
  }

  /** Resolves unless this is the point, or it is behind us. */
  async pass(name: string): Promise<void> {
    if (!this.#reached && name === this.#name && --this.#left === 0) {
      this.#reached = true;
      this.onReached();
    }
    if (this.#reached) await new Promise(() => undefined);
  }

  /** The store, with a point before and one after each of its calls that `POINTS` names. What shows life stays out of it. */
  around(store: WorkflowStore): WorkflowStore {
    return wrapStore(store, (name) => {
      const points = POINTS[name as keyof WorkflowStore];
      if (!points && !CALLS.has(name)) return undefined;
      return async (given, proceed) => {
        await this.pass('');
        for (const point of points?.(given, undefined) ?? []) await this.pass(`before ${point}`);
        const answer: unknown = await proceed();
        for (const point of points?.(given, answer) ?? []) await this.pass(`after ${point}`);
        return answer;
      };
    });
  }
}

/** What else moves runs. */
const CALLS: ReadonlySet<string | symbol> = new Set(['settle', 'reap', 'promoteDelayed', 'sendSignal', 'changeRun']);

type Points = (given: any[], answer: any) => string[];

const nameOf = (key: string): string => key.replace(/#\d+$/, '');

/** What calls are named by. Of a call that may find nothing to do only the answer tells whether it was one. */
const POINTS: Partial<Record<keyof WorkflowStore, Points>> = {
  claim: (_, answer) => (answer?.claimed.length > 0 ? ['claim'] : []),
  fireDue: (_, answer) => (answer?.timers > 0 ? ['timer'] : []),
  readLedger: () => ['ledger'],
  writeSteps: ([writes]) =>
    writes.map(({ op, key = '', outcome }: { op: string; key?: string; outcome?: { kind: string } }) =>
      `${outcome?.kind === 'again' ? 'again' : op} ${nameOf(key)}`.trim(),
    ),
  suspend: ([records]) =>
    records.flatMap(({ keep }: { keep: string[] }) => keep.map((key) => `suspend ${nameOf(key)}`)),
  record: () => ['record'],
};
