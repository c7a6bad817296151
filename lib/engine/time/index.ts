export { MAX_DURATION_MS, parseDurationMs } from './duration.js';
export type { Duration } from './duration.js';
export { formatDuration } from './format-duration.js';
export { MAX_TIMER_MS, nextTimerMs } from './timer.js';
