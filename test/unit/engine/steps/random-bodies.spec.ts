import { fc } from '../../../support/properties.js';
import type { Steps } from '../../../../lib/engine/steps/index.js';
import { SmallLedger } from './support/small-ledger.js';
import { SmallStage, type Body } from './support/small-stage.js';

/** A body as data. Names come from the place in the tree, so that no two branches share one. */
type Program =
  | { readonly kind: 'step'; readonly ticks: number; readonly fails: boolean }
  | { readonly kind: 'once' }
  | { readonly kind: 'sleep'; readonly minutes: number }
  | { readonly kind: 'signal'; readonly timeout: number | null }
  | { readonly kind: 'poll'; readonly times: number }
  | { readonly kind: 'sequence'; readonly parts: readonly Program[] }
  | { readonly kind: 'all'; readonly parts: readonly Program[] }
  | { readonly kind: 'race'; readonly first: number; readonly second: number; readonly after: Program }
  | { readonly kind: 'loop'; readonly times: number; readonly part: Program }
  | { readonly kind: 'items'; readonly count: number; readonly part: Program }
  | { readonly kind: 'guarded'; readonly part: Program };

const leaf: fc.Arbitrary<Program> = fc.oneof(
  fc.record({ kind: fc.constant('step' as const), ticks: fc.nat(8), fails: fc.boolean() }),
  fc.record({ kind: fc.constant('once' as const) }),
  fc.record({ kind: fc.constant('sleep' as const), minutes: fc.integer({ min: 0, max: 500 }) }),
  fc.record({ kind: fc.constant('signal' as const), timeout: fc.option(fc.integer({ min: 1, max: 200 })) }),
  fc.record({ kind: fc.constant('poll' as const), times: fc.integer({ min: 1, max: 3 }) }),
);

const program: fc.Arbitrary<Program> = fc.letrec<{ any: Program }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    leaf,
    fc.record({ kind: fc.constant('sequence' as const), parts: fc.array(tie('any'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ kind: fc.constant('all' as const), parts: fc.array(tie('any'), { minLength: 1, maxLength: 3 }) }),
    fc.record({
      kind: fc.constant('race' as const),
      first: fc.integer({ min: 1, max: 100 }),
      second: fc.integer({ min: 101, max: 300 }),
      after: tie('any'),
    }),
    fc.record({ kind: fc.constant('loop' as const), times: fc.integer({ min: 1, max: 3 }), part: tie('any') }),
    fc.record({ kind: fc.constant('items' as const), count: fc.integer({ min: 0, max: 3 }), part: tie('any') }),
    fc.record({ kind: fc.constant('guarded' as const), part: tie('any') }),
  ),
})).any;

/** One life of a program: the body, and what it saw. */
class Life {
  /** Keys of durable calls whose outcome the body got, of the present pass, in order. */
  seen: string[] = [];
  readonly ran = new Map<string, number>();
  readonly polls = new Map<string, number>();
  readonly stage: SmallStage;

  constructor(tree: Program) {
    const body: Body = async ({ step }) => {
      this.seen = [];
      return this.#play(tree, step, 'p');
    };
    this.stage = new SmallStage(body, new SmallLedger());
  }

  async #play(at: Program, step: Steps, name: string): Promise<unknown> {
    const got = async <T>(call: Promise<T>): Promise<T> => {
      try {
        return await call;
      } finally {
        this.seen.push(name);
      }
    };
    switch (at.kind) {
      case 'step':
        return got(
          step.run(name, async () => {
            for (let n = 0; n < at.ticks; n++) await new Promise((resolve) => setImmediate(resolve));
            this.ran.set(name, (this.ran.get(name) ?? 0) + 1);
            if (at.fails) throw new Error(`${name} fails`);
            return `${name} done`;
          }),
        );
      case 'once':
        return got(step.once(name, () => (this.ran.set(name, (this.ran.get(name) ?? 0) + 1), `${name} kept`)));
      case 'sleep':
        return got(step.sleep(name, at.minutes * 60_000)).then(() => null);
      case 'signal': {
        const timeout = at.timeout === null ? undefined : `${at.timeout} min`;
        return got(step.waitForSignal(name, { signal: 'go', timeout, onTimeout: 'return' }));
      }
      case 'poll':
        return got(
          step.waitFor(
            name,
            () => {
              const asked = (this.polls.get(name) ?? 0) + 1;
              this.polls.set(name, asked);
              return asked >= at.times ? `${name} true` : false;
            },
            { every: '7 min' },
          ),
        );
      case 'sequence': {
        const results: unknown[] = [];
        for (const [n, part] of at.parts.entries()) results.push(await this.#play(part, step, `${name}.${n}`));
        return results;
      }
      case 'all':
        return (await Promise.allSettled(at.parts.map((part, n) => this.#play(part, step, `${name}.${n}`)))).map(
          (settled) => (settled.status === 'fulfilled' ? settled.value : String(settled.reason)),
        );
      case 'race': {
        const won = await Promise.race([
          step.sleep(`${name}.a`, at.first * 60_000).then(() => (this.seen.push(`${name}.a`), 'a')),
          step.sleep(`${name}.b`, at.second * 60_000).then(() => (this.seen.push(`${name}.b`), 'b')),
        ]);
        return [won, await this.#play(at.after, step, `${name}.c`)];
      }
      case 'loop': {
        const results: unknown[] = [];
        for (let n = 0; n < at.times; n++) results.push(await this.#play(at.part, step, `${name}.${n}`));
        return results;
      }
      case 'items':
        return step.all(
          name,
          Array.from({ length: at.count }, (_, n) => n),
          (_item, scope, index) => this.#play(at.part, scope, `${name}.${index}`),
        );
      case 'guarded':
        try {
          return await this.#play(at.part, step, name);
        } catch (error) {
          return `caught ${(error as Error).message}`;
        }
    }
  }

  /** Outcomes by key; those without a body last. */
  ledger(): Record<string, string | null> {
    return Object.fromEntries(
      this.stage.ledger
        .read()
        .filter(({ status }) => status === 'completed' || status === 'failed')
        .map(({ key, status, result, failure }) => [
          key,
          status === 'completed' ? result : (JSON.parse(failure!) as Error).message,
        ]),
    );
  }

  /** The names that the body saw, in the order of their places in the ledger. */
  recordedOrder(): string[] {
    return this.stage.ledger
      .read()
      .filter(({ seq }) => seq !== null)
      .map(({ key }) => nameOf(key));
  }
}

/** Name of a step by its key. */
const nameOf = (key: string): string => key.slice(key.lastIndexOf('/') + 1).replace(/#\d+$/, '');

const EVENTS = [{ key: 'go', at: 90 * 60_000, payload: 'went' }];

async function live(life: Life): Promise<unknown> {
  const passed = await life.stage.run(EVENTS);
  return passed.kind === 'threw' ? { threw: (passed.error as Error).message } : passed;
}

it('STEP-1, STEP-2: random bodies end with the same ledger and result, straight through and with crashes anywhere', async () => {
  await fc.assert(
    fc.asyncProperty(
      program,
      fc.array(
        fc.record({
          write: fc.integer({ min: 1, max: 30 }),
          when: fc.constantFrom('before' as const, 'after' as const),
        }),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
      async (tree, crashes) => {
        const straight = new Life(tree);
        const expected = await live(straight);
        const crashing = new Life(tree);
        let result: unknown;
        for (const crash of crashes) {
          const { ledger } = crashing.stage;
          ledger.crashAt = { ...crash, write: ledger.writes + crash.write };
          // A poll asks the world, and the world is not older for a crash.
          const passed = await crashing.stage.pass();
          if (passed.kind === 'suspended') {
            ledger.suspend(passed.suspension);
            ledger.fireNext(EVENTS);
          } else if (passed.kind !== 'crashed') {
            result = passed.kind === 'threw' ? { threw: passed.error.message } : passed;
            break;
          }
        }
        crashing.stage.ledger.crashAt = undefined;
        result ??= await live(crashing);
        expect(result).toEqual(expected);
        // Of steps that were still at it when the body had ended, beside one that failed, the end may be recorded or not.
        const [one, other] = [straight.ledger(), crashing.ledger()];
        const common = Object.keys(one).filter((key) => key in other);
        expect(common.map((key) => other[key])).toEqual(common.map((key) => one[key]));
        const had = new Set(straight.seen);
        expect(Object.keys(one).filter((key) => had.has(nameOf(key)) && !(key in other))).toEqual([]);
        // What the last pass saw, it saw in the order of the ledger.
        const seen = crashing.seen.filter((name) => crashing.recordedOrder().includes(name));
        expect(seen).toEqual(crashing.recordedOrder().filter((name) => seen.includes(name)));
      },
    ),
    { numRuns: 300 },
  );
});
