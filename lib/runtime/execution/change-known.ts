import type { CompiledDefinition } from '../../engine/definition/compiled-definition.js';
import type { ChangeDecision, ChangeResult, LockedRun, WorkflowStore } from '../../engine/ports/index.js';
import type { DefinitionSource } from './definition-source.js';

/** Half a second, pauses and all. What the engine does by itself comes again with the next pass, and others wait behind it. */
const TRIES = 5;

/**
 * Changes a run as `decide` says, which is given what the run is pinned to. A graph that this process has not met yet is read first,
 * outside of the run's lock; what this build does not serve is undefined, which ending a run does not need.
 *
 * A run that somebody holds for longer is left to the next pass (undefined): else a host that keeps one run locked would hold up all
 * that the wake pass does after it.
 */
export async function changeKnown<R>(
  store: Pick<WorkflowStore, 'changeRun'>,
  definitions: Pick<DefinitionSource, 'byKey' | 'refresh'>,
  runId: string,
  decide: (run: LockedRun, definition: CompiledDefinition | undefined) => ChangeDecision<R>,
): Promise<ChangeResult<R> | undefined> {
  let unmet: LockedRun['row'] | undefined;
  let answered = false;
  let looked = false;
  const change = (): Promise<ChangeResult<R | undefined> | undefined> =>
    store.changeRun<R | undefined>(
      runId,
      { all: true },
      (run) => {
        const definition = definitions.byKey(run.row.definitionKey)?.compiled;
        answered = definition !== undefined || looked;
        if (answered) return decide(run, definition);
        unmet = run.row;
        return { transition: null, answer: undefined };
      },
      undefined,
      { tries: TRIES },
    );
  const first = await change();
  if (answered || !unmet) return first as ChangeResult<R> | undefined;
  await definitions.refresh(unmet.definitionKey, unmet.ownerId);
  looked = true;
  return (await change()) as ChangeResult<R> | undefined;
}
