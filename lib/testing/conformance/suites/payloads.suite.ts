import { completed, ending, followedBy, group, joined, linear } from '../builders.js';
import type { StoreSuite } from '../suite.js';

/** JSON texts that stores are known to change, or to choke on. */
const PAYLOADS: readonly (readonly [what: string, text: string])[] = [
  ['U+0000 in a string', '{"a":"x\\u0000y"}'],
  ['U+0000 in a key', '{"\\u0000":1}'],
  ['a lone surrogate', '"\\ud800"'],
  ['a __proto__ key', '{"__proto__":{"a":1},"constructor":{"prototype":1}}'],
  ['keys that look like columns', '{"env":{"OPENAI_BASE_URL":"x","_a":1,"a_b_c":2}}'],
  ['spaces, number forms and the order of keys', '{ "b" : 1.0,\n "a" : 1e2, "b2":10000000000000000000000 }'],
  ['a key that stands twice', '{"a":1,"a":2}'],
  ['characters beyond the basic plane', '"𝄞 ☃ é"'],
  ['zero', '0'],
  ['an empty string', '""'],
  ['false', 'false'],
  ['null', 'null'],
  ['an empty list', '[]'],
];

export function describePayloads({ it, expect }: StoreSuite): void {
  for (const [what, text] of PAYLOADS) {
    it(`FAULT A1: ${what} comes back exactly: input, actor, outputs, and what is decided from`, async (on) => {
      const job = await on.startAndClaim({ input: text, actor: text });
      expect(job.run.input).toBe(text);
      expect(job.run.actor).toBe(text);

      await on.store.record([linear(job, { outcome: completed(text), transition: followedBy() })]);
      const second = await on.claimOne();
      expect(second.earlier[0]?.output).toBe(text);

      const seen: unknown[] = [];
      await on.settle([joined(second, { outcome: completed(text) })], (_key, state) => {
        seen.push(state.input, ...state.stageRuns.map(({ output }) => output));
        return ending(text);
      });
      expect(seen).toEqual([text, text, text]);
      const { run, stageRuns } = await on.history(job.run.id);
      expect([run.input, run.actor, run.output]).toEqual([text, text, text]);
      expect(stageRuns.map(({ output }) => output)).toEqual([text, text]);
    });
  }

  it('FAULT A13: a skipped stage has no output, which is not the same as null', async (on) => {
    await on.start({ transition: group(['left', 'right']) });
    const { claimed } = await on.claim();
    const [left, right] = [...claimed].sort((a, b) => (a.stageRun.key < b.stageRun.key ? -1 : 1));
    if (left === undefined || right === undefined) throw new Error('Both branches were to be claimed.');
    let outputs: unknown;
    await on.settle(
      [joined(left, { outcome: completed('null') }), joined(right, { outcome: { kind: 'skipped', reason: 'no' } })],
      (_key, state) => {
        outputs = state.stageRuns.map(({ output }) => output);
        return ending();
      },
    );
    expect(outputs).toEqual(['null', null]);
  });
}
