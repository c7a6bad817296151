import type { OpenWait } from '../../engine/ports/index.js';
import type { EventMatcher } from '../events/event-matcher.js';
import type { DueTimer } from './due-timer.js';

/** Tells those who end waits of the ones that a body has opened while it goes on. Hints: the wake pass finds what they miss. */
export class OpenedWaits {
  constructor(
    private readonly timer: Pick<DueTimer, 'note'>,
    private readonly matcher: Pick<EventMatcher, 'matchStageRuns'>,
  ) {}

  tell(stageRunId: string, waits: readonly OpenWait[]): void {
    const soonest = Math.min(...waits.map(soonestIn));
    if (soonest < Infinity) this.timer.note(soonest);
    if (waits.some(({ kind }) => kind === 'event')) void this.matcher.matchStageRuns([stageRunId]);
  }
}

/** An instant is the database's to judge: asked now, it says how far off that is. */
function soonestIn({ due, expiresInMs }: OpenWait): number {
  const dueIn = due === null ? Infinity : 'inMs' in due ? due.inMs : 0;
  return Math.min(dueIn, expiresInMs ?? Infinity);
}
