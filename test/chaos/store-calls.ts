import type { Type } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { WORKFLOW_OVERRIDES, type WorkflowOverrides } from '../../lib/composition/overrides.js';
import { openPostgresStorage } from '../../lib/composition/postgres-storage.js';
import type { SuspendRecord, SuspendVerdict, WorkflowStore } from '../../lib/engine/ports/index.js';

/** Stands around a call of the store: makes it with `proceed`, and gives the answer back. */
export type CallAround = (given: any, proceed: () => Promise<any>) => Promise<unknown>;

/** The store, with something around those of its calls for which `aroundOf` has it. */
export function wrapStore(
  store: WorkflowStore,
  aroundOf: (name: string | symbol) => CallAround | undefined,
): WorkflowStore {
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const around = aroundOf(name);
      if (!around) return value.bind(target) as unknown;
      return (...given: unknown[]) => around(given, async () => value.apply(target, given) as unknown);
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
}

export interface SuspensionWatch {
  /** A stage is about to be put to sleep: that is written when all of its statement are let go on. */
  readonly before?: (record: SuspendRecord) => Promise<void>;
  /** It sleeps: what it waits for was not there. */
  readonly asleep: (record: SuspendRecord) => void;
}

/** The store, with somebody who is told of the stages that this process puts to sleep. */
export function watchSuspensions(store: WorkflowStore, { before, asleep }: SuspensionWatch): WorkflowStore {
  const suspend: CallAround = async ([records]: [readonly SuspendRecord[]], proceed) => {
    await Promise.all(records.map((record) => before?.(record)));
    const verdicts = (await proceed()) as SuspendVerdict[];
    for (const [at, verdict] of verdicts.entries()) {
      if (verdict.verdict === 'recorded' && verdict.suspended) asleep(records[at]!);
    }
    return verdicts;
  };
  return wrapStore(store, (name) => (name === 'suspend' ? suspend : undefined));
}

/** An app of this module, not initialised yet, whose engine works on the store that `wrap` makes of its own. */
export async function compileOn(
  module: Type<unknown>,
  wrap: (store: WorkflowStore) => WorkflowStore,
): Promise<TestingModule> {
  const openStorage: WorkflowOverrides['openStorage'] = async (request) => {
    const storage = await openPostgresStorage(request);
    return { ...storage, store: wrap(storage.store) };
  };
  const builder = Test.createTestingModule({ imports: [module] });
  return builder.overrideProvider(WORKFLOW_OVERRIDES).useValue({ openStorage }).compile();
}
