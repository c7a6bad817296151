import { v7 } from 'uuid';
import { TestEngine } from './support/test-engine.js';
import { BrokenStore, TransientError } from './support/broken-store.js';

const engines: TestEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
});

/** Two schedules that are new, and so looked at for the first time; neither can be moved on. */
async function failing() {
  const broken = new BrokenStore();
  const engine = new TestEngine([], { wrap: broken.wrap });
  engines.push(engine);
  const triggers = ['first', 'second'].map((triggerId) => ({
    id: v7(),
    triggerId,
    type: 'schedule' as const,
    spec: JSON.stringify({ id: triggerId, type: 'schedule', cron: '* * * * *', catchUp: 'skip' }),
    fingerprint: '* * * * * UTC',
    eventKey: null,
  }));
  await engine.store.putTriggers({ ownerId: null, definitionId: 'orders', definitionVersion: 1, triggers });
  broken.instead.moveSchedules = async (_real, [move]) => {
    const first = move?.id === triggers[0]!.id;
    throw first ? new TransientError('a lock') : new Error('unreadable');
  };
  const told = () => engine.log.lines.map((line) => JSON.stringify(line)).filter((line) => line.includes('Schedule '));
  return { engine, told };
}

describe('schedules that fail in one turn', () => {
  it.each(['the timer', 'the wake pass'])(
    'TRIG-1: each is told of, by its name and once, where %s ran them',
    async (who) => {
      const { engine, told } = await failing();
      if (who === 'the timer') await engine.runtime.scheduleTimer.runOnce();
      else {
        const { errors } = await engine.runtime.pass.wake();
        expect(errors.map(({ part }) => part)).toEqual(['schedules', 'schedules']);
      }
      const lines = told().filter((line) => line.includes('could not be run'));
      expect(lines).toEqual([
        expect.stringMatching(/warn.*first of orders.*a lock/),
        expect.stringMatching(/error.*second of orders.*unreadable/),
      ]);
    },
  );
});
