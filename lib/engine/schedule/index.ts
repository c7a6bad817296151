export { CronText } from './cron-text.js';
export { dueInstants, LATE_AFTER_MS, MOST_INSTANTS } from './due-instants.js';
export type { CatchUp, DueInstants } from './due-instants.js';
export { jitterMs } from './jitter.js';
export { Schedule } from './schedule.js';
export { ZoneClock } from './zone-clock.js';
