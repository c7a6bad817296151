import type { StageContext } from '../../../../lib/interfaces/index.js';
import { graphFlow, type GraphEdge, type GraphNode } from './graph-flow.js';
import type { TestStage } from './pipeline.js';
import { TestEngine, type TestEngineGiven } from './test-engine.js';

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

/** Of the test that runs; closed after it. */
export let engine: TestEngine;
export const use = (next: TestEngine): TestEngine => (engine = next);
afterEach(() => engine.close());

export interface StartGiven {
  readonly stages?: readonly TestStage[];
  readonly input?: unknown;
  readonly given?: TestEngineGiven;
  readonly settings?: object;
  readonly run?: object;
}

/** A run on an engine of its own, as far as it comes by itself. */
export async function start(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[] = EDGES,
  { stages = [], input = {}, given = {}, settings = {}, run = {} }: StartGiven = {},
): Promise<string> {
  const flow = await graphFlow(nodes, edges, stages, { settings });
  use(new TestEngine([flow], given));
  const runId = await engine.start(flow, input, run);
  await engine.drain();
  return runId;
}

/** Every stage run, an escalation by its key, with what it came to. */
export async function rows(runId: string): Promise<string[]> {
  const { stageRuns } = await engine.history(runId);
  return stageRuns.map(({ key, status: is, outcome, errorCode }) =>
    [key, is, ...(outcome ? [outcome] : []), ...(is === 'FAILED' ? [errorCode] : [])].join(' '),
  );
}

export const status = async (runId: string): Promise<string> => (await engine.history(runId)).run.status;

/** What was told of this type. */
export async function told(type: string): Promise<Readonly<Record<string, unknown>>[]> {
  await engine.runtime.relay.flush();
  return engine.sink.events.filter((event) => event.type === type).map(({ data }) => data);
}

/** The event that `signing` waits for. */
export async function signed(): Promise<void> {
  await engine.emit('signed', { by: 'ann' });
  await engine.drain();
}
