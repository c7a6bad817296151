import { Injectable, Module, Scope } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { WorkflowPolicy } from '../../../lib/decorators/index.js';
import { LazyModules } from '../../../lib/discovery/index.js';
import { Greet, Greeting, loadedRegistry, registryApp } from './registry-app.js';

@WorkflowPolicy(['pay', 'refund'], { allowSystem: true })
class PayPolicy {
  authorize() {
    return true;
  }
}

@WorkflowPolicy('pay')
class Rival {
  authorize() {
    return false;
  }
}

describe('policies', () => {
  it('AUTH-2: are found in any module, under each of their abilities; provided twice, they are one', async () => {
    @Module({ providers: [PayPolicy] })
    class PolicyModule {}
    const { policies } = await loadedRegistry({ imports: [PolicyModule], providers: [PayPolicy] });
    expect([...policies.keys()]).toEqual(['pay', 'refund']);
    expect(policies.get('pay')).toMatchObject({ provider: { type: PayPolicy }, allowSystem: true });
    expect(policies.get('refund')).toMatchObject({ provider: { type: PayPolicy } });
  });

  it('AUTH-2: an undecorated subclass stands for its policy, and a scope said below the decorator stays', async () => {
    @WorkflowPolicy('ask')
    @Injectable({ scope: Scope.REQUEST })
    class Ask extends PayPolicy {}
    class Fake extends Rival {}
    const { policies } = await loadedRegistry({ providers: [{ provide: 'any', useClass: Fake }, Ask] });
    expect([...policies.keys()]).toEqual(['pay', 'ask']);
    expect(policies.get('ask')?.provider.wrapper.isDependencyTreeStatic()).toBe(false);
  });

  it('AUTH-2, DEF-3: two of one ability, one without a method, and one without a name stop the app', async () => {
    class Mute {}
    Reflect.decorate([WorkflowPolicy('mute') as ClassDecorator], Mute);
    @WorkflowPolicy([' ', 7 as never])
    class Nameless extends PayPolicy {}
    @WorkflowPolicy([], { allowSystem: 'yes' as never })
    class Idle extends PayPolicy {}
    const { registry } = await registryApp({ providers: [PayPolicy, Rival, Mute, Nameless, Idle] });
    const error: Error = await registry.load().then(
      () => new Error('it booted'),
      (thrown) => thrown,
    );
    for (const complaint of [
      'Rival (HostModule): the ability "pay" has a policy already: PayPolicy (HostModule).',
      'Mute (HostModule): it has no method authorize(request).',
      'Nameless (HostModule): an ability of @WorkflowPolicy is no name.',
      'Idle (HostModule): @WorkflowPolicy names no ability.',
      'Idle (HostModule): allowSystem is neither true nor false.',
    ])
      expect(error.message).toContain(complaint);
    expect(registry.policies.size).toBe(0);
  });

  it('AUTH-2: of a module that is loaded later count from then on; a second one of an ability rejects the load', async () => {
    const { registry, context } = await registryApp({ providers: [Greeting, Greet] });
    await registry.load();
    context.get(LazyModules, { strict: false }).watch();
    const loader = context.get(LazyModuleLoader, { strict: false });
    @Module({ providers: [PayPolicy] })
    class First {}
    @Module({ providers: [Rival] })
    class Second {}
    await loader.load(() => First);
    expect([...registry.policies.keys()]).toEqual(['pay', 'refund']);
    await expect(loader.load(() => Second)).rejects.toThrow(/Rival \(Second\): the ability "pay" has a policy already/);
    expect(registry.policies.get('pay')?.provider.type).toBe(PayPolicy);
  });
});
