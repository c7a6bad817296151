import { AsyncLocalStorage } from 'node:async_hooks';
import { encodeJson } from '../../../../../lib/engine/codec/index.js';
import { Replay, Steps, type ChildRequest, type ReplayStop } from '../../../../../lib/engine/steps/index.js';
import { Crash, SmallLedger } from './small-ledger.js';

export interface BodyScope {
  readonly step: Steps;
  readonly replay: Replay;
  readonly signal: AbortSignal;
}

export type Body = (ctx: BodyScope) => unknown;

export type Passed =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: any }
  | { readonly kind: 'crashed' }
  | { readonly kind: 'forever' }
  | Extract<ReplayStop, { kind: 'suspended' | 'unfenced' | 'shutdown' }>;

const inside = new AsyncLocalStorage<string>();
const macrotask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** One stage run: its body, passed through as often as it takes. */
export class SmallStage {
  readonly warnings: string[] = [];
  readonly children: { key: string; request: ChildRequest }[] = [];
  passes = 0;
  draining = false;
  aborted: 'cancelled' | 'lease-lost' | undefined;
  startChild: (key: string, request: ChildRequest) => Promise<{ runId: string }> = async (key) => ({
    runId: `child of ${key}`,
  });
  lastEnd: ReturnType<Replay['end']> | undefined;
  replay: Replay | undefined;

  constructor(
    readonly body: Body,
    readonly ledger = new SmallLedger(),
  ) {}

  /** One pass through the body: to its end, its suspension, or its crash. */
  pass(): Promise<Passed> {
    const first = this.passes++ === 0;
    return new Promise((resolve) => {
      const controller = new AbortController();
      const stop = (end: ReplayStop): void => {
        if (end.kind === 'broken') {
          if (!(end.error instanceof Crash)) return resolve({ kind: 'threw', error: end.error });
          return resolve({ kind: 'crashed' });
        }
        resolve(end);
      };
      // oxlint-disable-next-line typescript/no-this-alias -- getters of the host below read it as it changes
      const stage = this;
      const replay = new Replay(
        {
          journal: this.ledger.journal(),
          random: () => 0.5,
          tick: macrotask,
          pause: macrotask,
          inside: (step, body) => inside.run(step, body),
          get insideStep() {
            return inside.getStore();
          },
          signal: controller.signal,
          get aborted() {
            return stage.aborted;
          },
          get draining() {
            return stage.draining;
          },
          holding: () => ({ done: () => undefined }),
          now: () => this.ledger.now,
          encode: (value, what) => encodeJson(value, { what }),
          idempotencyKey: (key) => `s:${key}`,
          warn: (message) => this.warnings.push(message),
          stop,
        },
        !first,
      );
      this.replay = replay;
      const services = {
        leaseMs: 300_000,
        parse: (_schema: unknown, payload: unknown) => payload,
        checkWhere: () => undefined,
        startChild: (key: string, request: ChildRequest) => {
          this.children.push({ key, request });
          return this.startChild(key, request);
        },
      };
      const step = new Steps(replay, services);
      void inside.exit(async () => {
        try {
          const value = await this.body({ step, replay, signal: controller.signal });
          const late = replay.over;
          await replay.returned();
          if (!late) resolve({ kind: 'returned', value });
          this.lastEnd = replay.end();
        } catch (error) {
          if (!replay.over) resolve({ kind: 'threw', error });
          this.lastEnd = replay.end({ error });
        }
      });
    });
  }

  /** Passes until the body has ended; waits end when their time comes. */
  async run(events: Parameters<SmallLedger['fireNext']>[0] = []): Promise<Passed> {
    for (;;) {
      const passed = await this.pass();
      if (passed.kind === 'suspended') {
        this.ledger.suspend(passed.suspension);
        if (!this.ledger.fireNext(events)) return { kind: 'forever' };
      } else if (passed.kind !== 'crashed') return passed;
    }
  }
}
