import { Injectable, Module } from '@nestjs/common';
import { z } from 'zod';
import { OnWorkflowEvent, Stage, Workflow } from '../../../lib/decorators/index.js';
import { DuplicateOf, FakeGreet, Greet2 } from './variants.js';
import { InvalidDefinitionError, UndefinedIdError, UnknownWorkflowError } from '../../../lib/errors/index.js';
import type { Flow, WorkflowEvent } from '../../../lib/interfaces/index.js';
import { Greet, Greeting, input, loadedRegistry, registryApp, text, Welcome, type Text } from './registry-app.js';

@Module({ providers: [Greeting, Greet], exports: [Greet] })
class GreetModule {}

@Module({ imports: [GreetModule], providers: [Greeting, Greet, Welcome] })
class WelcomeModule {}

@Workflow({ id: 'welcome', version: 2, input })
class Welcome2 {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Greet).pipe(Greet, { key: 'again' });
  }
}

/** The complaints of a boot, as text; fails when it succeeds. */
async function complaintsOf(...given: Parameters<typeof registryApp>): Promise<string> {
  const { registry } = await registryApp(...given);
  const error: unknown = await registry.load().then(
    () => 'it booted',
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(InvalidDefinitionError);
  expect(registry.stages.size + registry.definitions.size).toBe(0);
  return (error as Error).message;
}

describe('DefinitionRegistry', () => {
  it('DEF-3: finds stages and workflows in any module', async () => {
    const registry = await loadedRegistry({ imports: [WelcomeModule] });

    expect(registry.stages.get('greet')).toMatchObject({
      id: 'greet',
      stageClass: Greet,
      inputSchema: text.input,
      outputSchema: text.output,
      retry: { maxAttempts: 4 },
      timeoutMs: 5_000,
      queue: 'fast',
      ability: 'greet',
      sideEffect: false,
      hasCancelHook: true,
    });
    const served = registry.get(Welcome);
    expect(served).toMatchObject({ inputSchema: input, workflowClass: Welcome, place: 'Welcome (WelcomeModule)' });
    expect(registry.byKey(served.key)).toBe(served);
    expect(registry.definitions.get('welcome')?.get(1)).toBe(served);
    expect(registry.stageIdOf(Greet)).toBe('greet');
    expect(registry.stageIdOf(Greeting)).toBeUndefined();
  });

  it('FAULT H1: a class provided in several modules counts once', async () => {
    const registry = await loadedRegistry({
      imports: [WelcomeModule, GreetModule],
      providers: [Greeting, Greet, Welcome],
    });
    expect([registry.stages.size, registry.definitions.size]).toEqual([1, 1]);
  });

  it.each([
    ['a factory', { provide: 'any', useFactory: (greeting: Greeting) => new Greet(greeting), inject: [Greeting] }],
    ['a value', { provide: 'any', useValue: new Greet(new Greeting()) }],
    ['a class under another token', { provide: 'any', useClass: Greet }],
    ['an undecorated subclass', { provide: 'any', useClass: Greet2 }],
    ['a subclass under its token', { provide: Greet, useClass: Greet2 }],
    ['something else under its token', { provide: Greet, useClass: FakeGreet }],
    ['a value under its token', { provide: Greet, useValue: new FakeGreet() }],
  ])('DEF-3: a stage may be provided by %s', async (_, provider) => {
    const registry = await loadedRegistry({ providers: [Greeting, provider, Welcome] });
    expect(registry.get('welcome').compiled.nodes[0]?.stages[0]?.stage).toBe('greet');
    const stage = await registry.resolve<Greet>(registry.stageType('greet')!, {});
    expect(stage.execute({} as Text)).toMatch(/hello|fake/);
  });

  it('DEF-3: an alias is the provider that it names', async () => {
    const registry = await loadedRegistry({
      providers: [{ provide: 'alias', useExisting: Greet }, Greeting, Greet, Welcome],
    });
    expect(registry.stages.get('greet')?.provider.token).toBe(Greet);
  });

  it('DEF-3: a test may put another provider in the place of a stage', async () => {
    const registry = await loadedRegistry({ imports: [WelcomeModule] }, {}, (builder) =>
      builder.overrideProvider(Greet).useValue({ execute: () => 'fake' }),
    );
    expect((registry.resolve(registry.stageType('greet')!, {}) as Greet).execute({} as Text)).toBe('fake');
  });

  it('VER-1: versions stand side by side, and the highest is taken unless one is named', async () => {
    const registry = await loadedRegistry({ providers: [Greeting, Greet, Welcome2, Welcome] });
    expect(registry.get('welcome').compiled.version).toBe(2);
    expect(registry.get(Welcome).compiled.version).toBe(2);
    expect(registry.get('welcome', 1).workflowClass).toBe(Welcome);
    expect(() => registry.get('welcome', 3)).toThrow(UnknownWorkflowError);
  });

  it('DEF-3: an unknown workflow is told with the one most likely meant', async () => {
    const registry = await loadedRegistry({ imports: [WelcomeModule] });
    expect(() => registry.get('welcom')).toThrow(/Did you mean "welcome"\?/);
    expect(() => registry.get(Welcome2, 2)).toThrow(UnknownWorkflowError);
    expect(() => registry.get(Greeting)).toThrow(/"Greeting"/);
    await expect(registry.lookup('nothing')).rejects.toThrow(UnknownWorkflowError);
  });

  it('FAULT A18: no workflow at all is refused', async () => {
    const registry = await loadedRegistry({ imports: [WelcomeModule] });
    expect(() => registry.get(undefined as never)).toThrow(UndefinedIdError);
  });

  it('FAULT H6: two classes with one id are both named, with their modules', async () => {
    const { Approve: ApproveA, Approval: ApprovalA } = DuplicateOf('approve');
    const { Approve: ApproveB, Approval: ApprovalB } = DuplicateOf('approve');
    @Module({ providers: [ApproveA, ApprovalA] })
    class BillingModule {}
    @Module({ providers: [ApproveB, ApprovalB] })
    class HrModule {}

    const complaints = await complaintsOf({ imports: [BillingModule, HrModule] });
    expect(complaints).toContain('Approve (HrModule): the stage id "approve" is also that of Approve (BillingModule).');
    const { Approval: ApprovalC } = DuplicateOf('approve', ApproveA);
    @Module({ providers: [ApprovalC] })
    class SalesModule {}
    expect(await complaintsOf({ imports: [BillingModule, SalesModule] })).toContain(
      'Approval (SalesModule): workflow "approve" version 1 is also Approval (BillingModule).',
    );
  });

  it('FAULT E12: ids that differ only in case are told', async () => {
    const { Approve: ApproveA, Approval: ApprovalA } = DuplicateOf('approve');
    const { Approve: ApproveB, Approval: ApprovalB } = DuplicateOf('Approve');
    const complaints = await complaintsOf({ providers: [ApproveA, ApproveB, ApprovalA, ApprovalB] });
    expect(complaints).toContain(
      'stage id "Approve" is also that of Approve (HostModule) ("approve" differs only in case)',
    );
    expect(complaints).toContain(
      'workflow "Approve" version 1 is also Approval (HostModule) ("approve" differs only in case)',
    );
  });

  it('DEF-3: a subclass beside the class it extends is a second stage of that id, unless decorated anew', async () => {
    expect(await complaintsOf({ providers: [Greeting, Greet, Greet2] })).toContain(
      'the stage id "greet" is also that of',
    );

    @Stage({ id: 'greet-anew', ...text })
    class GreetAnew extends Greet {}
    const registry = await loadedRegistry({ providers: [Greeting, Greet, GreetAnew] });
    expect([...registry.stages.keys()]).toEqual(['greet', 'greet-anew']);
  });

  it('DEF-3: a pipeline that names another class than the one provided under its id is told', async () => {
    const { Approve, Approval } = DuplicateOf('approve');
    const { Approve: Other } = DuplicateOf('approve');
    expect(await complaintsOf({ providers: [Other, Approval] })).toContain('Approve is no stage of this app');
    await expect(loadedRegistry({ providers: [Approve, Approval] })).resolves.toBeDefined();
  });

  it('DEF-3: everything wrong in all modules is told at once', async () => {
    @Injectable()
    class NoExecute {}
    Reflect.decorate([Stage({ id: 'no execute', ...text, retires: 3 } as never) as ClassDecorator], NoExecute);
    class NoDefine {}
    Reflect.decorate([Workflow({ id: 'no-define', version: 1, input: 'text' } as never) as ClassDecorator], NoDefine);
    @Workflow({ id: 'empty', version: 1, input })
    class Empty {
      define(flow: Flow<typeof input>) {
        return flow;
      }
    }
    class NoInput {
      define(flow: Flow<typeof input>) {
        return flow.pipe(NoExecute as never);
      }
    }
    Reflect.decorate([Workflow({ id: 'no-input', version: 1, versoin: 2 } as never) as ClassDecorator], NoInput);

    const complaints = await complaintsOf({ providers: [NoExecute, NoDefine, Empty, NoInput] });
    for (const complaint of [
      'NoExecute (HostModule): it has no method execute(ctx)',
      'NoExecute (HostModule): @Stage has the id "no execute"',
      'NoExecute (HostModule): there is no option "retires" here',
      'NoDefine (HostModule): it has no method define(flow)',
      'NoDefine (HostModule): input is "text", not a schema',
      'Empty (HostModule): the pipeline is empty',
      'NoInput (HostModule): @Workflow has no input schema',
      'NoInput (HostModule): @Workflow has no option "versoin"',
    ]) {
      expect(complaints).toContain(complaint);
    }
    // A stage that is faulty itself is not called unknown on top.
    expect(complaints).not.toContain('is no stage of this app');
    expect(complaints.match(/\n {2}- /g)).toHaveLength(8);
  });

  it('LIMIT-1: the limits of the module hold for what is found', async () => {
    const complaints = await complaintsOf({ providers: [Greeting, Greet, Welcome2] }, { limits: { maxStageRuns: 1 } });
    expect(complaints).toContain('it has 2 stages, and maxStageRuns is 1');
  });

  it('DEF-4: a check that throws refuses what was found', async () => {
    const { registry } = await registryApp({ imports: [WelcomeModule] });
    const asked: string[] = [];
    registry.addCheck(async (definitions) => {
      asked.push(...definitions.map(({ key }) => key));
      throw new Error('drift');
    });
    await expect(registry.load()).rejects.toThrow('drift');
    expect(asked).toEqual([expect.stringMatching(/^welcome@1#[0-9a-f]{16}$/)]);
    expect(registry.definitions.size).toBe(0);
  });

  it('FAULT C17: a boot that failed fails again for the same reason, and succeeds when that is gone', async () => {
    const { Approve } = DuplicateOf('approve');
    const { Approval } = DuplicateOf('approve');
    const faulty = (await registryApp({ providers: [Approve, Approval] })).registry;
    await expect(faulty.load()).rejects.toThrow(InvalidDefinitionError);
    await expect(faulty.load()).rejects.toThrow(InvalidDefinitionError);

    const { registry } = await registryApp({ imports: [WelcomeModule] });
    let away = true;
    registry.addCheck(async () => {
      if (away) throw new Error('the database is away');
    });
    await expect(registry.load()).rejects.toThrow('the database is away');
    away = false;
    await registry.load();
    expect(registry.get('welcome')).toBeDefined();
  });

  it('DEF-4: who loads while it is being loaded waits for the end', async () => {
    const { registry } = await registryApp({ imports: [WelcomeModule] });
    let letGo = (): void => undefined;
    const asked = new Promise<void>((resolve) =>
      registry.addCheck(() => new Promise((done) => ((letGo = done), resolve()))),
    );
    const first = registry.load();
    await asked;
    const second = registry.lookup('welcome');
    letGo();
    await expect(second).resolves.toBeDefined();
    await first;
  });

  it('DEF-5: a workflow may be asynchronous to build: its config is checked by promises', async () => {
    const config = z.object({ size: z.number().refine(async (size) => size > 0) });
    @Stage({ id: 'sized', config })
    class Sized {
      execute(_ctx: import('../../../lib/interfaces/index.js').StageContext<{ config: typeof config }>) {}
    }
    @Workflow({ id: 'sized', version: 1, input })
    class SizedFlow {
      define(flow: Flow<typeof input>) {
        return flow.pipe(Sized, { config: { size: -1 } });
      }
    }
    expect(await complaintsOf({ providers: [Sized, SizedFlow] })).toContain('config.size');
  });

  it('EVT-1: event handlers are found by method, inherited ones too, each class once', async () => {
    @Injectable()
    class Base {
      @OnWorkflowEvent('run:failed')
      failed(_event: WorkflowEvent<'run:failed'>) {}

      @OnWorkflowEvent(['run:completed', 'run:cancelled'])
      ended() {}
    }
    @Injectable()
    class Derived extends Base {
      override ended() {}
    }
    @Module({ providers: [Derived] })
    class OtherModule {}
    const registry = await loadedRegistry({
      imports: [OtherModule],
      providers: [Derived, { provide: 'base', useValue: new Base() }],
    });

    const found = registry.eventHandlers.map(({ type, method, types }) => [type, method, types]);
    expect(found).toHaveLength(3);
    expect(found).toEqual(
      expect.arrayContaining([
        [Derived, 'failed', ['run:failed']],
        [Base, 'failed', ['run:failed']],
        [Base, 'ended', ['run:completed', 'run:cancelled']],
      ]),
    );
  });
});
