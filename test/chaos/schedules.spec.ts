import { NestFactory } from '@nestjs/core';
import { WakeService } from 'nestjs-workflow-engine';
import { WORKFLOW_RUNTIME, type WorkflowRuntime } from '../../lib/composition/workflow-runtime.js';
import { triggersOf } from '../../lib/engine/graph/index.js';
import { newId } from '../../lib/testing/conformance/builders.js';
import { freshDatabase } from '../support/database.js';
import { forkProcess } from '../support/processes.js';
import { instantsOf, type Plan, watchClock } from '../unit/engine/schedule/clock-watch.js';
import { scheduleModule } from './schedule-flow.js';

const PROCESSES = 8;
const DAY_MS = 86_400_000;
const ZONES = [
  'Europe/Rome',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'Asia/Kathmandu',
  'Africa/Casablanca',
];
/** A time that all of these clocks are put forward over, and most of them back. */
const CRON = '15 2 * * *';
const PLAN: Plan = { hours: [2], minutes: [15] };

describe('eight processes on one database', () => {
  it('TRIG-1: fire the same schedules for a year over both changes of the clock in six zones: each instant once, none missed', async () => {
    const database = await freshDatabase();
    const pool = database.openPool({ max: 2 });
    const app = await NestFactory.createApplicationContext(scheduleModule(database.url), { logger: false });
    const { store } = await app.get<WorkflowRuntime>(WORKFLOW_RUNTIME, { strict: false }).ready();
    const triggers = triggersOf(
      {
        triggers: ZONES.map((timeZone) => ({
          ...{ id: timeZone.replace('/', '-'), type: 'schedule', cron: CRON, timeZone, catchUp: 'all' },
        })) as never,
      },
      newId,
    );
    await store.putTriggers({ ownerId: null, definitionId: 'ticking', definitionVersion: 1, triggers });
    const begin = Date.parse((await store.listTriggers({ limit: 1 }, { all: true }))[0]!.lastAt!);
    const end = begin + 366 * DAY_MS;
    // Each a little later than the others, and all of them further on than the clock.
    const wakes = (nth: number): number[] =>
      Array.from({ length: 122 }, (_, n) => Math.min(end, begin + (n + 1) * 3 * DAY_MS + nth * 600_000));

    const processes = Array.from({ length: PROCESSES }, () =>
      forkProcess('test/chaos/schedule.process.ts', { env: { DATABASE_URL: database.url } }),
    );
    await Promise.all(processes.map((each) => each.waitFor('ready')));
    const woken = processes.map((each, nth) => {
      each.send('wake', { instants: wakes(nth) });
      return each.waitFor<{ started: number; errors: unknown[] }>('woken');
    });
    const reports = await Promise.all(woken);
    await Promise.all(processes.map((each) => each.kill()));
    expect(reports.flatMap(({ errors }) => errors)).toEqual([]);
    // Who held a schedule when the others came last may have looked at an earlier instant.
    await app.get(WakeService).wake(new Date(end));

    const { rows } = await pool.query<{ zone: string; at: string }>(
      `SELECT origin->>'id' AS zone, origin->>'at' AS at FROM workflow_runs ORDER BY 1, 2`,
    );
    for (const zone of ZONES) {
      const fired = rows.filter((row) => row.zone === zone.replace('/', '-')).map(({ at }) => at);
      const quarter = 900_000;
      const looks = watchClock(zone, Math.floor(begin / quarter) * quarter, Math.ceil(end / quarter) * quarter);
      const expected = instantsOf(PLAN, looks).filter((at) => at > begin && at <= end);
      expect([zone, fired]).toEqual([zone, expected.map((at) => new Date(at).toISOString())]);
    }
    console.info(`${rows.length} instants; runs by process: ${reports.map(({ started }) => started).join(', ')}`);
    await app.close();
    await pool.end();
  }, 180_000);
});
