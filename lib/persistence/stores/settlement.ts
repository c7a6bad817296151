import type { DecideSettled, FinishedRun, SettleEvent } from '../../engine/ports/index.js';
import type { EngineEvent, Transition } from '../../engine/state/rows.js';
import type { TransactionQuery } from '../engine-pool.js';
import type { AppliedRow } from '../dialects/postgres/statements/apply-transitions.js';
import { transitionValues, type RunTransition } from '../dialects/postgres/statements/transition-rows.js';
import { runState, type StateRow } from '../dialects/postgres/statements/read-states.js';
import type { StoreContext } from './store-context.js';

/** What the outcomes of one run, stored a moment ago under its lock, give rise to. */
export interface RunOutcomes {
  readonly runId: string;
  /** `stage:*` events of the outcomes, in order. */
  readonly events: EngineEvent[];
  readonly settled: SettleEvent[];
}

/**
 * Second and third statement of a joined record: read the runs as they are now, decide, write.
 */
export async function settle(
  query: TransactionQuery,
  { statements, clock }: StoreContext,
  runs: readonly RunOutcomes[],
  decide: DecideSettled,
): Promise<Map<string, FinishedRun>> {
  const deciding = runs.filter((run) => run.settled.length > 0).map((run) => run.runId);
  const states = deciding.length > 0 ? await query<StateRow>(statements.readStates, [deciding]) : [];
  const byId = new Map(states.map((row) => [row.id, row]));
  const transitions = runs.map(({ runId, events, settled }) => {
    const row = byId.get(runId);
    return {
      runId,
      transition: row ? after(events, decide(row.definition_key, runState(row), settled)) : onlyEvents(events),
    };
  });
  return apply(query, clock.offsetMs, transitions, statements.applyTransitions);
}

/** Writes transitions of locked runs. Answers those that ended. */
export async function apply(
  query: TransactionQuery,
  offsetMs: number,
  transitions: readonly RunTransition[],
  statement: StoreContext['statements']['applyTransitions'],
): Promise<Map<string, FinishedRun>> {
  const written = transitions.filter(({ transition }) => !isEmpty(transition));
  if (written.length === 0) return new Map();
  const rows = await query<AppliedRow>(statement, transitionValues(offsetMs, written));
  return new Map(rows.map((row) => [row.id, finishedRun(row)]));
}

export function finishedRun({ id, status, awaited, child }: AppliedRow): FinishedRun {
  const finished = { runId: id, status: status as FinishedRun['status'], awaited };
  return child ? { ...finished, child } : finished;
}

function onlyEvents(events: readonly EngineEvent[]): Transition {
  return {
    run: null,
    stageRuns: [],
    reopened: [],
    requeued: [],
    visits: [],
    events,
    cancelOpen: false,
    cancelJobs: [],
  };
}

function after(events: readonly EngineEvent[], transition: Transition): Transition {
  return { ...transition, events: [...events, ...transition.events] };
}

function isEmpty(t: Transition): boolean {
  return (
    !t.run &&
    !t.rerun &&
    !t.migrate &&
    !t.cancelOpen &&
    [t.stageRuns, t.reopened, t.requeued, t.visits, t.events, t.cancelJobs, t.cancelled ?? []].every(
      (rows) => rows.length === 0,
    )
  );
}
