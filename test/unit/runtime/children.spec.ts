import type { StageContext } from '../../../lib/interfaces/index.js';
import { workflow } from './support/pipeline.js';
import { TestEngine } from './support/test-engine.js';

let engine: TestEngine;
afterEach(() => engine.close());

/** Three generations, each of which waits for the next; what their hooks did. */
async function threeGenerations() {
  const undone: string[] = [];
  const generation = (id: string, next: string | null) =>
    workflow(id, [
      {
        key: 'a',
        execute: ({ step }: StageContext) =>
          next === null ? step.sleep('nap', '1 day') : step.runWorkflow('child', next, null),
        cancel: () => void undone.push(id),
      },
    ]);
  const flows = [generation('grandparent', 'parent'), generation('parent', 'child'), generation('child', null)];
  engine = new TestEngine(flows);
  const runId = await engine.start(flows[0]!);
  await engine.drain();
  return { runId, undone };
}

describe('children of a run that has ended', () => {
  it('CANCEL-3: are cancelled with their hooks, and theirs', async () => {
    const { runId, undone } = await threeGenerations();
    await engine.cancel(runId);
    expect(await engine.runtime.family.runOnce()).toMatchObject({ cancelled: 2 });
    await engine.drain();
    expect(undone.sort()).toEqual(['child', 'grandparent', 'parent']);
  });

  it('CANCEL-4: are terminated where their parent was: no hook of any of them is called', async () => {
    const { runId, undone } = await threeGenerations();
    await engine.cancel(runId, { hooks: false });
    expect(await engine.runtime.family.runOnce()).toMatchObject({ cancelled: 2 });
    await engine.drain();
    expect(undone).toEqual([]);
    expect(await engine.store.countRuns({ all: true })).toEqual({ CANCELLED: 3 });
  });
});
