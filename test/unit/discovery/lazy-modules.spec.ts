import { Module } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { LazyModules } from '../../../lib/discovery/index.js';
import { DuplicateOf } from './variants.js';
import { Greet, Greeting, registryApp, Welcome } from './registry-app.js';

@Module({ providers: [Greeting, Greet, Welcome] })
class WelcomeModule {}

async function lazyApp(watched: boolean) {
  const { Approve, Approval } = DuplicateOf('approve');
  const { registry, context } = await registryApp({ providers: [Approve, Approval] });
  await registry.load();
  const loader = context.get(LazyModuleLoader, { strict: false });
  const lazy = context.get(LazyModules, { strict: false });
  if (watched) lazy.watch();
  return { registry, loader, lazy };
}

describe('modules that are loaded lazily', () => {
  it('DEF-3: what they bring is registered when the load is done', async () => {
    const { registry, loader } = await lazyApp(true);
    expect(registry.definitions.has('welcome')).toBe(false);
    const module = await loader.load(() => WelcomeModule);
    expect(module.get(Greet)).toBeInstanceOf(Greet);
    expect(registry.get('welcome').workflowClass).toBe(Welcome);
    expect(registry.get('approve')).toBeDefined();
  });

  it('DEF-3: unwatched, an unknown workflow leads to one look at what came since', async () => {
    const { registry, loader } = await lazyApp(false);
    await loader.load(() => WelcomeModule);
    expect((await registry.lookup('welcome')).workflowClass).toBe(Welcome);
    expect(await registry.refresh()).toBe(false);
  });

  it('DEF-3: a faulty definition rejects the load, changes nothing, and is in no later module’s way', async () => {
    const { registry, loader } = await lazyApp(true);
    const { Approve, Approval } = DuplicateOf('approve');
    @Module({ providers: [Approve, Approval] })
    class Faulty {}

    const served = registry.get('approve');
    await expect(loader.load(() => Faulty)).rejects.toThrow(
      /Approve \(Faulty\): the stage id "approve" is also that of/,
    );
    expect(registry.get('approve')).toBe(served);
    await loader.load(() => WelcomeModule);
    expect(registry.get('welcome')).toBeDefined();
  });

  it('FAULT H1: modules loaded side by side or later with the same classes register them once', async () => {
    const { registry, loader } = await lazyApp(true);
    @Module({ providers: [Greeting, Greet] })
    class Other {}
    await Promise.all([loader.load(() => WelcomeModule), loader.load(() => Other), loader.load(() => WelcomeModule)]);
    @Module({ providers: [Greeting, Greet, Welcome] })
    class Later {}
    const before = registry.get('welcome');
    await loader.load(() => Later);
    expect(registry.get('welcome')).toBe(before);
    expect([...registry.stages.keys()].sort()).toEqual(['approve', 'greet']);
  });

  it('FAULT G7: a load that could not be checked is made up for later', async () => {
    const { registry, loader } = await lazyApp(true);
    let away = true;
    registry.addCheck(async () => {
      if (away) throw new Error('the database is away');
    });
    await expect(loader.load(() => WelcomeModule)).rejects.toThrow('the database is away');
    expect(registry.definitions.has('welcome')).toBe(false);
    away = false;
    expect((await registry.lookup('welcome')).workflowClass).toBe(Welcome);
  });

  it('DEF-3: watching twice watches once, and ends', async () => {
    const { loader, lazy } = await lazyApp(true);
    const watched = loader.load;
    lazy.watch();
    expect(loader.load).toBe(watched);
    lazy.unwatch();
    expect(loader.load).toBe(LazyModuleLoader.prototype.load);
  });
});
