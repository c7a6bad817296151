import type { DecideSettled, JoinedRecord, RecordVerdict } from '../../engine/ports/work-store.js';
import { findFenced } from './fences.js';
import { writeBeside } from './recorded-beside.js';
import type { RunRecord } from './records.js';
import type { MemorySession } from './session.js';
import { settleRun, type EndedAttempt } from './settlements.js';

export function settle(
  session: MemorySession,
  records: readonly JoinedRecord[],
  decide: DecideSettled,
): RecordVerdict[] {
  const verdicts: RecordVerdict[] = records.map(() => ({ verdict: 'not-fenced' }));
  const byRun = new Map<RunRecord, { ended: EndedAttempt[]; places: number[] }>();
  for (const [place, { lease, attempt, outcome, events, beside }] of records.entries()) {
    const fenced = findFenced(session, lease);
    if (fenced === undefined) continue;
    const group = byRun.get(fenced.run) ?? { ended: [], places: [] };
    byRun.set(fenced.run, group);
    // The same attempt twice in one call: the second write meets the first one's fence.
    if (group.ended.some(({ stageRun }) => stageRun === fenced.stageRun)) continue;
    if (beside !== undefined) writeBeside(session, fenced, attempt, beside);
    group.ended.push({ stageRun: fenced.stageRun, outcome, events });
    group.places.push(place);
  }
  for (const [run, { ended, places }] of byRun) {
    const finished = settleRun(session, run, ended, decide);
    // The run's end is told once: by the first of its records.
    for (const [nr, place] of places.entries()) {
      verdicts[place] = { verdict: 'recorded', handedOff: false, finished: nr === 0 ? finished : null };
    }
  }
  return verdicts;
}
