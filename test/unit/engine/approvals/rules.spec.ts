import { fc } from '../../../support/properties.js';
import { stageStanding, type ApprovalAnswer, type ApprovalRule } from '../../../../lib/engine/approvals/index.js';
import { after, agreed, decide, roundOf } from './rounds.js';

interface Case {
  readonly approvers: readonly { readonly id: string; readonly group: string; readonly weight: number }[];
  readonly rule: ApprovalRule;
}

/** By the words of the rule, written down without any of the code under test. */
function holds({ approvers, rule }: Case, agreeing: ReadonlySet<string>): boolean {
  const yes = approvers.filter(({ id }) => agreeing.has(id));
  if (rule === 'any') return yes.length >= 1;
  if (rule === 'all') return yes.length === approvers.length;
  if ('atLeast' in rule) return yes.length >= rule.atLeast;
  // Tenths, so that sums are whole.
  if ('weight' in rule)
    return yes.reduce((sum, { weight }) => sum + Math.round(weight * 10), 0) >= Math.round(rule.weight * 10);
  const { perGroup } = rule;
  const needs =
    typeof perGroup === 'number' ? approvers.map(({ group }) => [group, perGroup] as const) : Object.entries(perGroup);
  return needs.every(([group, need]) => yes.filter((one) => one.group === group).length >= need);
}

/** What the round has come to, by trying all that those who have not decided may still say. */
function oracle(given: Case, said: ReadonlyMap<string, ApprovalAnswer>): 'approved' | 'rejected' | 'open' {
  const open = given.approvers.filter(({ id }) => !said.has(id));
  const yes = [...said].filter(([, answer]) => answer === 'approved').map(([id]) => id);
  const ends = new Set<boolean>();
  for (let bits = 0; bits < 2 ** open.length; bits += 1) {
    const others = open.filter((_, at) => (bits & (1 << at)) !== 0).map(({ id }) => id);
    ends.add(holds(given, new Set([...yes, ...others])));
  }
  return ends.size === 2 ? 'open' : ends.has(true) ? 'approved' : 'rejected';
}

const cases = fc
  .array(fc.record({ group: fc.constantFrom('a', 'b', 'c'), tenths: fc.integer({ min: 0, max: 40 }) }), {
    minLength: 1,
    maxLength: 7,
  })
  .map((people) => people.map(({ group, tenths }, at) => ({ id: `u${at}`, group, weight: tenths / 10 })))
  .chain((approvers) => {
    const tenths = Math.round(approvers.reduce((sum, { weight }) => sum + weight * 10, 0));
    const groups = [...new Set(approvers.map(({ group }) => group))];
    const size = (name: string): number => approvers.filter(({ group }) => group === name).length;
    const rule = fc.oneof(
      fc.constantFrom<ApprovalRule>('any', 'all'),
      fc.integer({ min: 1, max: approvers.length }).map((atLeast): ApprovalRule => ({ atLeast })),
      tenths > 0
        ? fc.integer({ min: 1, max: tenths }).map((weight): ApprovalRule => ({ weight: weight / 10 }))
        : fc.constant<ApprovalRule>('any'),
      fc.integer({ min: 1, max: Math.min(...groups.map(size)) }).map((perGroup): ApprovalRule => ({ perGroup })),
      fc
        .tuple(...groups.map((name) => fc.integer({ min: 1, max: size(name) }).map((need) => [name, need] as const)))
        .map((needs): ApprovalRule => ({ perGroup: Object.fromEntries(needs) })),
    );
    return rule.map((one): Case => ({ approvers, rule: one }));
  });

describe('rules of approval', () => {
  it('APPR-1: a round ends at the very decision after which nothing could change it, and comes to what it says', () => {
    fc.assert(
      fc.property(cases, fc.infiniteStream(fc.boolean()), fc.infiniteStream(fc.nat()), (given, yes, order) => {
        let round = roundOf(given.approvers, { rule: given.rule });
        const said = new Map<string, ApprovalAnswer>();
        const left = given.approvers.map(({ id }) => id);
        while (round.status === 'open') {
          expect(oracle(given, said)).toBe('open');
          const [by] = left.splice(order.next().value! % left.length, 1);
          const answer = yes.next().value ? 'approved' : 'rejected';
          said.set(by!, answer);
          round = after(round, decide(round, by!, answer));
        }
        expect(round.status).toBe(oracle(given, said));
      }),
      { numRuns: 400 },
    );
  });

  it('APPR-1: what is missing is what makes the rule hold', () => {
    fc.assert(
      fc.property(cases, fc.nat(), (given, bits) => {
        const yes = given.approvers.filter((_, at) => (bits & (1 << at)) !== 0).map(({ id }) => id);
        const round = roundOf(given.approvers, { rule: given.rule });
        const decisions = yes.map((by) => ({
          ...{ id: by, stage: 0, approver: by, by, reason: null, comment: null, at: '', withdrawn: false },
          answer: 'approved' as const,
        }));
        const { missing } = stageStanding({ ...round, decisions }, 0);
        expect(missing === null).toBe(holds(given, new Set(yes)));
      }),
      { numRuns: 400 },
    );
  });

  it('I3: a light approver who says no does not reject a weighted round that can still pass', () => {
    const round = roundOf(['u1', 'u2', 'u3'], { rule: { weight: 5, weights: { u1: 4, u2: 1, u3: 1 } } });
    const refused = after(round, decide(round, 'u2', 'rejected'));
    expect(refused.status).toBe('open');
    expect(agreed(refused, 'u1', 'u3').status).toBe('approved');
    expect(after(refused, decide(refused, 'u3', 'rejected')).status).toBe('rejected');
  });

  it('APPR-1: weights that make one in decimals make one', () => {
    const approvers = [
      { id: 'u1', weight: 0.7 },
      { id: 'u2', weight: 0.1 },
      { id: 'u3', weight: 0.2 },
    ];
    expect(agreed(roundOf(approvers, { rule: { weight: 1 } }), 'u1', 'u2', 'u3').status).toBe('approved');
  });

  it('I5: who stands there for two groups counts in both, with one decision', () => {
    const approvers = [
      { id: 'u1', group: 'reviewer' },
      { id: 'u1', group: 'approver' },
      { id: 'u2', group: 'approver' },
    ];
    expect(agreed(roundOf(approvers, { rule: { perGroup: 1 } }), 'u1').status).toBe('approved');
    expect(agreed(roundOf(approvers, { rule: { perGroup: { reviewer: 1, approver: 2 } } }), 'u1').status).toBe('open');
  });

  it('APPR-1: several stages are asked one after the other; a no ends the round at once', () => {
    const round = roundOf([], { stages: [{ approvers: ['u1'] }, { approvers: ['u2', 'u3'], rule: 'all' }] });
    expect(decide(round, 'u2', 'approved')).toMatchObject({ kind: 'refused', error: { code: 'NOT_AN_APPROVER' } });
    const second = agreed(round, 'u1');
    expect(second).toMatchObject({ status: 'open', stage: 1 });
    expect(agreed(second, 'u2', 'u3').status).toBe('approved');
    expect(after(second, decide(second, 'u3', 'rejected')).status).toBe('rejected');
  });
});
