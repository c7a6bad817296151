import type { StageContext } from '../../../../lib/interfaces/index.js';
import type { GraphEdge, GraphNode } from './graph-flow.js';
import type { TestStage } from './pipeline.js';
import type { TestEngine } from './test-engine.js';

export type Given = StageContext & { readonly input: any };

export const HOUR = 3_600_000;

export const stage = (key: string, execute: (ctx: Given) => unknown, given: Partial<TestStage> = {}): TestStage => ({
  key,
  execute: execute as never,
  ...given,
});

export const after = (hours: number, action: object): object => ({ after: `${hours}h`, action });
export const notify = (to: unknown = ['ann', 'bob', 'ann'], message?: string): object => ({
  type: 'notify',
  to,
  ...(message !== undefined && { message }),
});
export const take = (outcome: string): object => ({ type: 'take_edge', outcome });

/** A node that waits for an event, with escalations, and where it leads on to. */
export const signing = (...escalations: object[]): GraphNode => ({
  id: 'sign',
  type: 'wait',
  config: { event: { key: '"signed"' } },
  escalations,
});

export const EDGES: readonly GraphEdge[] = [['sign', 'end']];

/** Every stage run, an escalation by its key, with what it came to. */
export async function rowsOf(engine: TestEngine, runId: string): Promise<string[]> {
  const { stageRuns } = await engine.history(runId);
  return stageRuns.map(({ key, status, outcome, errorCode }) =>
    [key, status, ...(outcome ? [outcome] : []), ...(status === 'FAILED' ? [errorCode] : [])].join(' '),
  );
}

export const statusOf = async (engine: TestEngine, runId: string): Promise<string> =>
  (await engine.history(runId)).run.status;

export async function toldBy(engine: TestEngine, type: string): Promise<Readonly<Record<string, unknown>>[]> {
  await engine.runtime.relay.flush();
  return engine.sink.events.filter((event) => event.type === type).map(({ data }) => data);
}

export async function signIn(engine: TestEngine): Promise<void> {
  await engine.emit('signed', { by: 'ann' });
  await engine.drain();
}
