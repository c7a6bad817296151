import type { CompiledGraph, CompiledGraphNode } from '../graph/index.js';
import type { DecideContext } from '../state/deciding.js';
import { capOf } from '../state/enter-node.js';
import { escalationKey, isEscalation } from '../state/escalation-key.js';
import type { NewStageRun } from '../state/rows.js';
import { isTerminalStageRun } from '../state/statuses.js';
import type { VisitRow } from './graph-visits.js';

/** What an escalation stands beside. */
export type EscalatedVisit = Pick<NewStageRun, 'node' | 'visit' | 'position' | 'ordinal'>;

/** The escalations of a run that have not fired, by the visits that they stand beside: an escalation ends with its visit (ESC-1). */
export class OpenEscalations {
  readonly #byVisit = new Map<string, string[]>();

  constructor(stageRuns: readonly VisitRow[]) {
    for (const { id, node, key = node, visit, status } of stageRuns)
      if (isEscalation({ key }) && !isTerminalStageRun(status)) this.#add({ node, visit }, id);
  }

  /** Those of a visit that begins now, each with a job that is due when its time has come. */
  begin(
    { escalations, id: node }: CompiledGraphNode,
    visit: EscalatedVisit,
    run: { readonly queue: string | null },
    graph: CompiledGraph,
    context: DecideContext,
  ): NewStageRun[] {
    return escalations.map((escalation) => {
      const { level, type: stage, afterMs: delayMs } = escalation;
      const queue = escalation.queue ?? run.queue ?? graph.settings.queue ?? context.defaultQueue;
      const id = context.nextId();
      this.#add(visit, id);
      return {
        id,
        node,
        key: escalationKey(node, level),
        stage,
        visit: visit.visit,
        // Of its visit: it is a part of that one, and no stage run that counts against a limit of its own.
        position: visit.position,
        ordinal: visit.ordinal,
        status: 'PENDING' as const,
        skipReason: null,
        failure: null,
        job: { id: context.nextId(), queue, capMs: capOf(escalation), delayMs },
      };
    });
  }

  /** The visit has ended, in whatever way: theirs are over with it. Returns their ids, each once. */
  end(visit: { readonly node: string; readonly visit: number }): readonly string[] {
    const key = keyOf(visit);
    const ended = this.#byVisit.get(key) ?? [];
    this.#byVisit.delete(key);
    return ended;
  }

  #add(visit: { readonly node: string; readonly visit: number }, id: string): void {
    const key = keyOf(visit);
    this.#byVisit.set(key, [...(this.#byVisit.get(key) ?? []), id]);
  }
}

const keyOf = ({ node, visit }: { readonly node: string; readonly visit: number }): string => `${node} ${visit}`;
