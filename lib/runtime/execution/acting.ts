import { decodeJson } from '../../engine/codec/index.js';
import type { CompiledDefinition } from '../../engine/definition/compiled-definition.js';
import type { ClaimedJob } from '../../engine/ports/index.js';
import type { ExecutionScope } from './context-scope.js';

/** What `systemActor` of the module options answers: whom runs of `actor: 'system'` act as. */
export type SystemActor = () => unknown;

/** The scope of one attempt: the run's owner, and the actor that its definition says it acts as (AUTH-3). */
export async function scopeOf(
  { run, stageRun }: ClaimedJob,
  { settings }: CompiledDefinition,
  systemActor: SystemActor,
): Promise<ExecutionScope> {
  const startedBy = run.actor === null ? null : decodeJson(run.actor, 'The actor of a run');
  return {
    ownerId: run.ownerId,
    actor: settings.actor === 'system' ? ((await systemActor()) ?? null) : startedBy,
    startedBy,
    run: { id: run.id, definition: run.definitionId, version: run.definitionVersion },
    stage: {
      runId: stageRun.id,
      key: stageRun.key,
      node: stageRun.node,
      stage: stageRun.stage,
      attempt: stageRun.attempt,
    },
    trace: run.trace,
  };
}
