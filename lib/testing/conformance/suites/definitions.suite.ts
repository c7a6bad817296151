import type { DefinitionRow } from '../../../engine/ports/index.js';
import { newRun } from '../builders.js';
import type { StoreSuite } from '../suite.js';

const definition = (given: Partial<DefinitionRow> = {}): DefinitionRow => ({
  id: 'documents',
  version: 1,
  fingerprint: 'f1',
  structure: '{"nodes":[]}',
  ...given,
});

export function describeDefinitions({ it, expect }: StoreSuite): void {
  it('DEF-4: a structure that is known, or new, is no drift', async (on) => {
    expect(await on.store.registerDefinitions([definition()])).toEqual([]);
    await on.start();
    expect(await on.store.registerDefinitions([definition()])).toEqual([]);
    expect(await on.store.registerDefinitions([])).toEqual([]);
  });

  it('DEF-4: another structure of the same version with unfinished runs is told, with how many', async (on) => {
    await on.store.registerDefinitions([definition()]);
    await on.store.createRuns([newRun(), newRun({ delayMs: 60_000 })]);
    expect(await on.store.registerDefinitions([definition({ fingerprint: 'f2' })])).toEqual([
      { id: 'documents', version: 1, fingerprint: 'f1', unfinishedRuns: 2 },
    ]);
  });

  it('DEF-4: it is told again at the next boot', async (on) => {
    await on.store.registerDefinitions([definition()]);
    await on.start();
    await on.store.registerDefinitions([definition({ fingerprint: 'f2' })]);
    expect(await on.second.registerDefinitions([definition({ fingerprint: 'f2' })])).toHaveLength(1);
  });

  it('DEF-4: runs that have ended do not hold a structure', async (on) => {
    await on.store.registerDefinitions([definition()]);
    const run = await on.start();
    await on.cancel(run.id);
    expect(await on.store.registerDefinitions([definition({ fingerprint: 'f2' })])).toEqual([]);
  });

  it('DEF-4: another version, or another definition, is no drift', async (on) => {
    await on.store.registerDefinitions([definition(), definition({ id: 'invoices' })]);
    await on.start();
    const rows = [definition({ version: 2, fingerprint: 'f2' }), definition({ id: 'invoices', fingerprint: 'f2' })];
    expect(await on.store.registerDefinitions(rows)).toEqual([]);
  });
}
