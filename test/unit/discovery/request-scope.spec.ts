import { Inject, Injectable, Module, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Stage, Workflow } from '../../../lib/decorators/index.js';
import { HandlerResolver } from '../../../lib/discovery/index.js';
import type { Flow } from '../../../lib/interfaces/index.js';
import { Greet, Greeting, input, loadedRegistry, registryApp, text, Welcome, type Text } from './registry-app.js';

interface Request {
  readonly runId: string;
}

@Injectable({ scope: Scope.REQUEST })
class CurrentRun {
  constructor(@Inject(REQUEST) readonly request: Request) {}
}

@Injectable()
class Between {
  constructor(readonly current: CurrentRun) {}
}

/** Request-scoped by what stands two levels below it. */
@Stage({ id: 'scoped', ...text })
class Scoped {
  constructor(
    readonly between: Between,
    readonly current: CurrentRun,
  ) {}

  execute(_ctx: Text) {
    return this.between.current.request.runId;
  }
}

@Workflow({ id: 'scoped', version: 1, input })
class ScopedFlow {
  constructor(readonly current: CurrentRun) {}

  define(flow: Flow<typeof input>) {
    return flow.pipe(Scoped);
  }
}

const providers = [CurrentRun, Between, Scoped, ScopedFlow];

describe('stages that are made for each execution', () => {
  it('DEF-1 FAULT H4: a stage that is request-scoped by a dependency two levels down is registered', async () => {
    const registry = await loadedRegistry({ providers });
    expect(registry.get(ScopedFlow).compiled.nodes).toHaveLength(1);
    expect(registry.stageType('scoped')).toMatchObject({ stageClass: Scoped });
  });

  it('DEF-1 FAULT H4: each execution has an instance of its own, and sees its own request', async () => {
    const registry = await loadedRegistry({ providers });
    const type = registry.stageType('scoped')!;
    const resolve = (runId: string) => registry.resolve<Scoped>(type, { runId });
    const [a, b] = await Promise.all([resolve('a'), resolve('b')]);

    expect([a.execute({} as Text), b.execute({} as Text)]).toEqual(['a', 'b']);
    expect(a).toBeInstanceOf(Scoped);
    expect(a.current).toBe(a.between.current);
    expect(a).not.toBe(b);
  });

  it('DEF-1: a singleton is given at once, and the same to all', async () => {
    const registry = await loadedRegistry({ providers: [Greeting, Greet, Welcome] });
    const type = registry.stageType('greet')!;
    const stage = registry.resolve<Greet>(type, {});
    expect(stage).toBeInstanceOf(Greet);
    expect(registry.resolve(type, {})).toBe(stage);
  });

  it('DEF-1: a transient stage is made each time', async () => {
    @Stage({ id: 'transient', ...text, scope: Scope.TRANSIENT })
    class Transient {
      constructor(readonly greeting: Greeting) {}
      execute(_ctx: Text) {
        return this.greeting.word;
      }
    }
    const registry = await loadedRegistry({ providers: [Greeting, Transient] });
    const type = registry.stageType('transient')!;
    const [a, b] = [await registry.resolve<Transient>(type, {}), await registry.resolve<Transient>(type, {})];
    expect(a.execute({} as Text)).toBe('hello');
    expect(a).not.toBe(b);
  });

  it('DEF-1: a request-scoped factory makes the stage of its token', async () => {
    const factory = {
      provide: Scoped,
      scope: Scope.REQUEST,
      inject: [Between, CurrentRun],
      useFactory: (between: Between, current: CurrentRun) => new Scoped(between, current),
    };
    const registry = await loadedRegistry({ providers: [CurrentRun, Between, factory, ScopedFlow] });
    const stage = await registry.resolve<Scoped>(registry.stageType('scoped')!, { runId: 'f' });
    expect(stage.execute({} as Text)).toBe('f');
  });

  it('DEF-1: what a stage depends on is that of its own module, where another has the same token', async () => {
    class Loud extends Greeting {
      override readonly word = 'HELLO';
    }
    @Stage({ id: 'own-module', ...text, scope: Scope.REQUEST })
    class OwnModule {
      constructor(readonly greeting: Greeting) {}
      execute(_ctx: Text) {
        return this.greeting.word;
      }
    }
    @Module({ providers: [{ provide: Greeting, useClass: Loud }, OwnModule] })
    class LoudModule {}
    @Module({ providers: [Greeting, OwnModule] })
    class QuietModule {}
    const wordIn = async (...imports: (new () => object)[]) => {
      const registry = await loadedRegistry({ imports });
      const stage = await registry.resolve<OwnModule>(registry.stageType('own-module')!, {});
      return stage.execute({} as Text);
    };
    expect(await wordIn(LoudModule, QuietModule)).toBe('HELLO');
    expect(await wordIn(QuietModule, LoudModule)).toBe('hello');
  });

  it('DEF-3: a token that holds null stands for nobody', async () => {
    @Module({ providers: [{ provide: Scoped, useValue: null }] })
    class Disabled {}
    const registry = await loadedRegistry({ imports: [Disabled], providers });
    expect(await registry.resolve(registry.stageType('scoped')!, { runId: 'a' })).toBeInstanceOf(Scoped);
  });

  it('DEF-1: guards and interceptors beside the stage share its context', async () => {
    const { registry, context } = await registryApp({ providers });
    await registry.load();
    const resolver = context.get(HandlerResolver, { strict: false });
    const { provider } = registry.stageType('scoped')!;
    const contextId = resolver.createContext({ runId: 'shared' });
    const stage = await resolver.resolveIn<Scoped>(provider, contextId);
    expect(await resolver.resolveIn(provider, contextId)).toBe(stage);
    expect(stage.execute({} as Text)).toBe('shared');
  });
});
