import type { RecordItem } from './record-item.js';

/** Which runs are being written now, and by which group: two statements over one run only wait for each other. */
export class RunsInFlight {
  readonly #groups = new Map<string, object>();

  /** Whether an outcome of the run may go with this group. */
  admits(runId: string, group: object): boolean {
    const holder = this.#groups.get(runId);
    return holder === undefined || holder === group;
  }

  enter(runId: string, group: object): void {
    this.#groups.set(runId, group);
  }

  leave(items: readonly RecordItem[]): void {
    for (const { runId } of items) this.#groups.delete(runId);
  }
}

/** Outcomes that wait for their statement, oldest first. */
export class RecordQueue {
  readonly #items: RecordItem[] = [];

  get length(): number {
    return this.#items.length;
  }

  push(item: RecordItem): void {
    this.#items.push(item);
  }

  /** Takes a group of at most `most`, leaving those whose run another group is writing. */
  take(most: number, inFlight: RunsInFlight): RecordItem[] {
    const group: RecordItem[] = [];
    let kept = 0;
    for (const item of this.#items) {
      if (group.length < most && inFlight.admits(item.runId, group)) {
        inFlight.enter(item.runId, group);
        group.push(item);
      } else this.#items[kept++] = item;
    }
    this.#items.length = kept;
    return group;
  }

  /** Takes what belongs to a run, in order. */
  takeRun(runId: string): RecordItem[] {
    const taken: RecordItem[] = [];
    let kept = 0;
    for (const item of this.#items) {
      if (item.runId === runId) taken.push(item);
      else this.#items[kept++] = item;
    }
    this.#items.length = kept;
    return taken;
  }
}
