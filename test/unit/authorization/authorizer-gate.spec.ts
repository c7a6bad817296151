import { AuthorizerGate } from '../../../lib/authorization/index.js';
import type { StageAuthorizer } from '../../../lib/interfaces/index.js';
import { authorizerKit, request, type GivenPolicy } from './authorization-kit.js';

const type = {
  id: 'pay',
  inputSchema: null,
  outputSchema: null,
  ability: null,
  sideEffect: true,
  hasCompletionCheck: false,
  outcomes: null,
};

function gateKit(
  own: StageAuthorizer | Error | null,
  abilities: Record<string, string | null> = {},
  given?: GivenPolicy,
) {
  const { authorizer: policies, asking, log } = authorizerKit(given);
  const get = (): StageAuthorizer => {
    if (own instanceof Error) throw own;
    return own!;
  };
  return { gate: new AuthorizerGate({ policies, asking, abilities, own: own && get }), policies, log };
}

describe('AuthorizerGate', () => {
  it('AUTH-1: the ability is what the module says of the stage, else what the stage says, else none', () => {
    const { gate } = gateKit({ authorize: () => true }, { pay: 'by options', open: null });
    expect(gate.abilityOf({ ...type, ability: 'its own' })).toBe('by options');
    expect(gate.abilityOf({ ...type, id: 'open', ability: 'its own' })).toBeNull();
    expect(gate.abilityOf({ ...type, id: 'other', ability: 'its own' })).toBe('its own');
    expect(gate.abilityOf({ ...type, id: 'other' })).toBeNull();
    expect(gate.abilityOf({ ...type, id: 'toString' })).toBeNull();
  });

  it('AUTH-1: without an authorizer of the host nobody is asked where no ability is named', () => {
    const { gate } = gateKit(null, { open: null });
    expect(gate.abilityOf(type)).toBeUndefined();
    expect(gate.abilityOf({ ...type, id: 'open', ability: 'its own' })).toBeUndefined();
    expect(gate.abilityOf({ ...type, ability: 'its own' })).toBe('its own');
  });

  it('AUTH-1: a stage without side effects is asked about only where it names an ability', () => {
    const { gate } = gateKit({ authorize: () => true }, { named: 'by options' });
    const harmless = { ...type, sideEffect: false };
    expect(gate.abilityOf(harmless)).toBeUndefined();
    expect(gate.abilityOf({ ...harmless, ability: 'its own' })).toBe('its own');
    expect(gate.abilityOf({ ...harmless, id: 'named' })).toBe('by options');
  });

  it('AUTH-2: an authorizer of the host gets every call, and the policies are not asked by themselves', async () => {
    const authorize = jest.fn(() => false);
    const asked: unknown[] = [];
    const own: StageAuthorizer = { authorize: (given) => (asked.push(given), { allowed: false, reason: 'mine' }) };
    const { gate } = gateKit(own, {}, { policy: { authorize } });
    expect(await gate.check(request())).toEqual({ allowed: false, reason: 'mine' });
    expect(await gate.check(request({ ability: null }))).toEqual({ allowed: false, reason: 'mine' });
    expect(asked).toEqual([request(), request({ ability: null })]);
    expect(authorize).not.toHaveBeenCalled();
  });

  it('AUTH-3: an authorizer of the host that throws, cannot be made or gives no answer has denied', async () => {
    const throwing: StageAuthorizer = {
      authorize() {
        throw new Error('secret');
      },
    };
    for (const own of [throwing, new Error('secret')])
      expect(await gateKit(own).gate.check(request())).toEqual({
        allowed: false,
        reason: 'the authorizer threw an error',
      });
    const silent = { authorize: () => undefined } as unknown as StageAuthorizer;
    expect(await gateKit(silent).gate.check(request())).toEqual({
      allowed: false,
      reason: 'the authorizer gave no answer',
    });
  });

  it('AUTH-2: without one the policies decide', async () => {
    const { gate } = gateKit(null, {}, { policy: { authorize: () => false } });
    expect(await gate.check(request())).toEqual({ allowed: false });
  });
});
