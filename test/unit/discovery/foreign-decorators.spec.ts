import { Injectable, SetMetadata } from '@nestjs/common';
import { ForeignDecoratorError } from '../../../lib/errors/index.js';
import { loadedRegistry } from './registry-app.js';

function foreign(key: string | symbol, method: 'execute' | 'define' | 'handle') {
  @Injectable()
  class Suspect {}
  Object.defineProperty(Suspect.prototype, method, { value: () => undefined });
  Reflect.defineMetadata(key, {}, Suspect);
  return Suspect;
}

describe('another engine’s decorators', () => {
  it.each<[string | symbol, 'execute' | 'define', RegExp]>([
    ['nestjs:workflows:step', 'execute', /Suspect \(HostModule\) carries @Stage of @nestjs\/workflows/],
    ['DURABLE_WORKFLOW_METADATA', 'define', /carries @Workflow of nestjs-durable/],
    [Symbol('durable:step'), 'execute', /carries @Stage of nestjs-durable/],
    [
      'workflow:definition',
      'define',
      /carries @Workflow of another package.*"workflow:definition".*Import Workflow from nestjs-workflow-engine/,
    ],
  ])('DEF-3: %p on a provider with %s stops the boot, saying what to import', async (key, method, message) => {
    const boot = loadedRegistry({ providers: [foreign(key, method)] });
    await expect(boot).rejects.toThrow(ForeignDecoratorError);
    await expect(boot).rejects.toThrow(message);
  });

  it('DEF-3: all of them are named', async () => {
    const boot = loadedRegistry({
      providers: [foreign('durable', 'execute'), { provide: 'b', useClass: foreign('durable', 'execute') }],
    });
    await expect(boot).rejects.toThrow(/Suspect \(HostModule\), Suspect \(HostModule\) carries/);
  });

  it('DEF-3: metadata of such a name on a class without our methods is nobody’s mistake', async () => {
    await expect(loadedRegistry({ providers: [foreign('workflow:name', 'handle')] })).resolves.toBeDefined();
    @Injectable()
    @SetMetadata('roles', [])
    class Command {
      execute() {}
    }
    await expect(loadedRegistry({ providers: [Command] })).resolves.toBeDefined();
  });

  it('DEF-3: a host with two engines says so', async () => {
    const providers = [foreign('durable', 'execute')];
    await expect(loadedRegistry({ providers }, { foreignDecorators: 'ignore' })).resolves.toBeDefined();
  });

  it('DEF-3: a provider that throws when it is looked at is left alone', async () => {
    const hostile = {
      get execute(): never {
        throw new Error('do not look');
      },
    };
    await expect(loadedRegistry({ providers: [{ provide: 'hostile', useValue: hostile }] })).resolves.toBeDefined();
  });
});
