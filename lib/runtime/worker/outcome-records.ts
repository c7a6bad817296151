import { describeFailure, type FailureRecord } from '../../engine/codec/index.js';
import type { EndedNode } from '../../engine/definition/index.js';
import type { Lease, LinearRecord, RecordedBeside } from '../../engine/ports/index.js';
import { decideNext } from '../../engine/state/decide.js';
import type { DecideContext } from '../../engine/state/deciding.js';
import { isEscalation } from '../../engine/state/escalation-key.js';
import { nodeOutput } from '../../engine/state/node-output.js';
import type { Suspension } from '../../engine/steps/index.js';
import type { EngineEvent, NewStageRun, StageOutcome, Transition } from '../../engine/state/rows.js';
import type { Attempt } from '../execution/attempt.js';
import type { RecordEntry } from './record-item.js';

/** What a worker offers for the stage that follows: to go on with it at once. */
export type HandOffOffer = NonNullable<LinearRecord['handOff']>;

/**
 * Makes records of outcomes: decides what follows where that is known without other rows, and sends the rest to where it
 * is decided under the run's lock.
 */
export class OutcomeRecords {
  constructor(
    private readonly context: DecideContext,
    /** Milliseconds; only for the `nextAt` that events tell. */
    private readonly now: () => number,
  ) {}

  entryOf(attempt: Attempt, outcome: StageOutcome, offer: (() => HandOffOffer) | null): RecordEntry {
    const { served, lease } = attempt;
    const { attempt: number } = attempt.job.stageRun;
    if (outcome.kind === 'retry' || outcome.kind === 'released') {
      const events = this.#eventsOf(attempt, outcome);
      return {
        lane: 'linear',
        record: {
          lease,
          attempt: number,
          outcome,
          transition: null,
          events,
          handOff: null,
          ...besideOf(attempt, outcome),
        },
      };
    }
    if (outcome.kind === 'failed' || served.node.stages.length > 1 || isEscalation(attempt.job.stageRun))
      return this.joined(attempt, outcome);
    const next = this.#next(attempt, outcome);
    if (next === null) return this.joined(attempt, outcome);
    if ('failure' in next) return this.joined(attempt, { kind: 'failed', failure: next.failure });
    const { transition } = next;
    const handOff = offer && onlySuccessor(transition) ? offer() : null;
    const events = this.#eventsOf(attempt, outcome);
    return {
      lane: 'linear',
      record: { lease, attempt: number, outcome, transition, events, handOff, ...besideOf(attempt, outcome) },
    };
  }

  joined(attempt: Attempt, outcome: StageOutcome): RecordEntry {
    const { lease, job } = attempt;
    const { node, key, visit, attempt: number } = job.stageRun;
    const events = this.#eventsOf(attempt, outcome);
    const { definitionKey } = job.run;
    return {
      lane: 'joined',
      record: {
        lease,
        attempt: number,
        definitionKey,
        node,
        key,
        visit,
        outcome,
        events,
        ...besideOf(attempt, outcome),
      },
    };
  }

  /** A stage that waits. */
  suspended(attempt: Attempt, { waits, keep, orders }: Suspension): RecordEntry {
    const { lease, job, notebook } = attempt;
    const { id: stageRunId, key: node, stage, attempt: number } = job.stageRun;
    const kinds = [...new Set(waits.map(({ kind }) => kind))];
    const told = { stageRunId, node, stage, data: { attempt: number, waitsFor: kinds } };
    const events: EngineEvent[] = isEscalation(job.stageRun) ? [] : [{ type: 'stage:suspended', ...told }];
    const notes = notebook?.notes() ?? null;
    return {
      lane: 'suspend',
      record: { lease, attempt: number, touches: job.run.touches, waits, keep, orders, events, notes },
    };
  }

  #next(
    { served, job }: Attempt,
    outcome: Extract<StageOutcome, { kind: 'completed' | 'skipped' }>,
  ): { readonly transition: Transition } | { readonly failure: FailureRecord } | null {
    const { node, stage, compiled } = served;
    const { id, queue, input } = job.run;
    const run = { id, queue, input, stageRunCount: job.stageRun.ordinal };
    const settled = {
      node: node.key,
      key: stage.key,
      status: outcome.kind === 'completed' ? ('COMPLETED' as const) : ('SKIPPED' as const),
      output: outcome.kind === 'completed' ? outcome.output : null,
    };
    try {
      if (compiled.ways) {
        // It stood in a branch, under a version that the run was migrated from.
        if (!job.isLatest) return null;
        const { earlier, unlisted } = job;
        const transition = compiled.ways.alone(run, { earlier, unlisted }, endedOf(node.key, outcome), this.context);
        return transition && { transition };
      }
      return { transition: decideNext(compiled, run, node.key, nodeOutput(node, [settled]), this.context) };
    } catch (error) {
      // A decision that throws would be no better at the next attempt, and the run must not hang on it.
      return { failure: { ...describeFailure(error), retryable: false } };
    }
  }

  #eventsOf({ job }: Attempt, outcome: StageOutcome): EngineEvent[] {
    // What becomes of an escalation is told by what follows from it; its tries are in the history.
    if (isEscalation(job.stageRun)) return [];
    const { id: stageRunId, key: node, stage, attempt } = job.stageRun;
    switch (outcome.kind) {
      case 'completed':
        return [{ type: 'stage:completed', stageRunId, node, stage, data: { attempt } }];
      case 'skipped':
        return [{ type: 'stage:skipped', stageRunId, node, stage, data: { attempt, reason: outcome.reason } }];
      case 'failed': {
        const { code, message } = outcome.failure;
        return [{ type: 'stage:failed', stageRunId, node, stage, data: { attempt, code, message, willRetry: false } }];
      }
      case 'retry': {
        const { code, message } = outcome.failure;
        const nextAt = new Date(this.now() + outcome.delayMs).toISOString();
        const data = { attempt, code, message, nextAt, willRetry: true };
        return [{ type: 'stage:retrying', stageRunId, node, stage, data }];
      }
      case 'released':
        return [];
    }
  }
}

function endedOf(node: string, outcome: Extract<StageOutcome, { kind: 'completed' | 'skipped' }>): EndedNode {
  if (outcome.kind === 'skipped') return { node, status: 'SKIPPED', output: null, outcome: null };
  return { node, status: 'COMPLETED', output: outcome.output, outcome: outcome.outcome ?? null };
}

/** What an outcome brings along for the ledger and the notes; most bring nothing, and cost nothing more. */
function besideOf({ ended, notebook, job }: Attempt, { kind }: StageOutcome): { readonly beside?: RecordedBeside } {
  const over = kind === 'completed' || kind === 'skipped' || kind === 'failed';
  const beside: RecordedBeside = {
    // A body that makes no durable call this time may have left waits open the last time.
    cancelWaits: over && (ended ? ended.openWaits : job.stageRun.hasLedger),
    reopen: kind === 'retry' || kind === 'failed' ? (ended?.reopen ?? []) : [],
    freeSteps: kind === 'released' && ended?.used === true,
    notes: notebook?.notes() ?? null,
  };
  const empty = !beside.cancelWaits && beside.reopen.length === 0 && !beside.freeSteps && !beside.notes;
  return empty ? {} : { beside };
}

/** Gives an attempt back that never began: a definition this build lacks, or a shutdown that came before the body (GHOST-3). */
export function released(
  lease: Lease,
  attempt: number,
  reason: Extract<StageOutcome, { kind: 'released' }>['reason'],
  delayMs: number,
): RecordEntry {
  const outcome = { kind: 'released', reason, delayMs } as const;
  return { lane: 'linear', record: { lease, attempt, outcome, transition: null, events: [], handOff: null } };
}

/** The one stage run that waits for a worker after this transition, if it is one. */
export function onlySuccessor(transition: Transition): NewStageRun | undefined {
  const pending = transition.stageRuns.filter(({ status }) => status === 'PENDING');
  return pending.length === 1 ? pending[0] : undefined;
}
