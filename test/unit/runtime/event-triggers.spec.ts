import { TriggerSpecs } from '../../../lib/engine/graph/index.js';
import type { FoundTrigger } from '../../../lib/engine/ports/index.js';
import { EventTriggers } from '../../../lib/runtime/triggers/event-triggers.js';
import { TransientError } from './support/broken-store.js';
import { CollectedLog } from './support/collected-log.js';

const EVENT = { id: '01900000-0000-7000-8000-000000000001', ownerId: null, key: 'paid', subject: null, payload: '{}' };

/** Three triggers of one event; `fail` is asked before each start. */
function triggersThat(fail: (definitionId: string) => unknown, now: () => Promise<string> = async () => '2026-01-01') {
  const started: string[] = [];
  const log = new CollectedLog();
  const found = ['a', 'b', 'c'].map((definitionId, nr) => ({
    ...{ id: `0190000${nr}-0000-7000-8000-000000000000`, ownerId: null, definitionId, definitionVersion: 1 },
    ...{ triggerId: 'heard', spec: JSON.stringify({ id: 'heard', type: 'event', on: 'paid' }) },
  })) as FoundTrigger[];
  const triggers = new EventTriggers({
    store: {
      findEventTriggers: async () => ({ triggers: found, next: null }),
      noteTrigger: async () => undefined,
      readAncestry: async () => [],
      now,
      isTransient: (error: unknown) => error instanceof TransientError,
    },
    specs: new TriggerSpecs(),
    start: async ({ trigger: { definitionId } }) => {
      const error = fail(definitionId);
      if (error) throw error;
      started.push(definitionId);
      return { runId: definitionId, created: true, sameInput: true, refused: false };
    },
    log,
    batch: 10,
    guard: { maxDepth: 5, allowCycles: false },
  });
  return { triggers, started, log };
}

describe('triggers of one event', () => {
  it('TRIG-3: one that fails for now is tried again, and the ones after it start in the same pass', async () => {
    let down = true;
    const { triggers, started, log } = triggersThat((id) => id === 'a' && down && new TransientError('lock timeout'));
    expect(await triggers.matchEvent(EVENT)).toBe(false);
    expect(started).toEqual(['b', 'c']);
    expect(log.matching('warn', 'of a could not be asked')).toHaveLength(1);
    down = false;
    expect(await triggers.matchEvent(EVENT)).toBe(true);
    expect(started).toContain('a');
  });

  it('TRIG-3: where the database is away for all, none is tried in vain', async () => {
    const away = () => Promise.reject(new TransientError('away'));
    const { triggers, started, log } = triggersThat(() => new TransientError('away'), away);
    await expect(triggers.matchEvent(EVENT)).rejects.toThrow('away');
    expect(started).toEqual([]);
    expect(log.lines).toEqual([]);
  });
});
