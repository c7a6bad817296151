import { v7 } from 'uuid';
import { z } from 'zod';
import type { CompiledNode } from '../../../lib/engine/definition/compiled-definition.js';
import type { ClaimedJob, WorkflowStore } from '../../../lib/engine/ports/index.js';
import { decideNext } from '../../../lib/engine/state/decide.js';
import type { StartableDefinition } from '../../../lib/services/engine-port.js';
import { completed, linear } from '../../../lib/testing/conformance/builders.js';
import { definition, single, stage } from '../../support/definitions.js';

export const line = (...keys: string[]): CompiledNode[] => keys.map((key, at) => single(at, stage(key)));

/** A version of the definition "flow". */
export const flow = (version: number, nodes: CompiledNode[]): StartableDefinition => ({
  compiled: { ...definition(nodes), id: 'flow', version, fingerprint: String(version).repeat(16) },
  inputSchema: z.unknown(),
});

export async function claimOne(store: WorkflowStore): Promise<ClaimedJob> {
  const { claimed } = await store.claim({ workerId: 'worker', limit: 1, queues: null, unserved: [] });
  if (!claimed[0]) throw new Error('There was nothing to claim.');
  return claimed[0];
}

/** Completes the stage that is due next, with its key as output, and writes what follows. */
export async function completeNext(store: WorkflowStore, { compiled }: StartableDefinition): Promise<ClaimedJob> {
  const job = await claimOne(store);
  const { run, stageRun } = job;
  const output = JSON.stringify(stageRun.key);
  const entered = { id: run.id, queue: run.queue, input: run.input, stageRunCount: stageRun.ordinal };
  const transition = decideNext(compiled, entered, stageRun.node, output, { nextId: v7, defaultQueue: 'default' });
  const [verdict] = await store.record([linear(job, { outcome: completed(output), transition })]);
  if (verdict?.verdict !== 'recorded') throw new Error('Nothing was recorded.');
  return job;
}
