import { begin, digestOf, failureText, finish } from '../step-builders.js';
import type { StoreSuite } from '../suite.js';

/** What `ctx.once` keeps, beyond attempts and reruns. */
export function describeEffects({ it, expect }: StoreSuite): void {
  it('STEP-8: an effect is kept under its key, and the first result stays', async (on) => {
    const job = await on.startAndClaim();
    const [paid, mailed] = [digestOf('paid'), digestOf('mailed')];
    expect(await on.store.readEffects([paid], null)).toEqual(new Map());
    await on.write(begin(job, 'pay', { kind: 'once' }), begin(job, 'mail', { kind: 'once' }));
    const failed = { kind: 'failed', failure: failureText() } as const;
    await on.write(finish(job, 'pay', { kind: 'once', effect: paid, outcome: { kind: 'completed', result: '1' } }));
    await on.write(finish(job, 'mail', { kind: 'once', effect: mailed, outcome: failed, seq: 2 }));
    expect(await on.store.readEffects([paid, mailed], null)).toEqual(new Map([[paid.toString('hex'), '1']]));

    const other = await on.startAndClaim();
    await on.write(begin(other, 'pay', { kind: 'once' }));
    const late = finish(other, 'pay', { kind: 'once', effect: paid, outcome: { kind: 'completed', result: '2' } });
    expect(await on.write(late)).toEqual(['written']);
    expect(await on.store.readEffects([paid], null)).toEqual(new Map([[paid.toString('hex'), '1']]));
    expect(await on.store.readEffects([], null)).toEqual(new Map());
    // A failure is no result: the next one that completes is the first.
    await on.write(begin(other, 'mail', { kind: 'once' }));
    await on.write(finish(other, 'mail', { kind: 'once', effect: mailed, seq: 2 }));
    expect(await on.store.readEffects([mailed], null)).toEqual(new Map([[mailed.toString('hex'), '"done"']]));
  });

  it("OWNER-4: an effect that another owner's run keeps is none, and is replaced", async (on) => {
    const effect = digestOf('paid');
    const kept = async (ownerId: string, result: string): Promise<void> => {
      const job = await on.startAndClaim({ ownerId });
      await on.write(begin(job, 'pay', { kind: 'once' }));
      await on.write(finish(job, 'pay', { kind: 'once', effect, outcome: { kind: 'completed', result } }));
    };
    await kept('forger', '"forged"');
    expect(await on.store.readEffects([effect], 'acme')).toEqual(new Map());
    await kept('acme', '"paid"');
    expect(await on.store.readEffects([effect], 'acme')).toEqual(new Map([[effect.toString('hex'), '"paid"']]));
    expect(await on.store.readEffects([effect], 'forger')).toEqual(new Map());
  });

  it('STEP-8: an effect outlives every start key', async (on) => {
    const job = await on.startAndClaim();
    const effect = digestOf('paid');
    await on.write(begin(job, 'pay', { kind: 'once' }));
    await on.write(finish(job, 'pay', { kind: 'once', effect }));
    on.travel(400 * 86_400_000);
    expect((await on.probe()).expiredKeys).toBe(false);
    expect(await on.store.pruneKeys(10)).toBe(0);
    expect((await on.store.readEffects([effect], null)).size).toBe(1);
  });
}
