import { milliseconds } from '../sql.js';

const stale = (now: string, j: string): string => `${j}.locked_at < ${now} - ${milliseconds('$2::float8')}`;

/** A job's own cap counts where it is longer; 0 = no cap. */
const longerThanCap = (time: string, j: string): string =>
  `$3::float8 > 0 AND ${time} > ${milliseconds(`greatest($3::float8, coalesce(${j}.cap_ms, 0))`)}`;

/** The lease of `j` is over: no heartbeat since $2 ms, or claimed more than $3 ms ago, or than its own cap. */
export const overLease = (now: string, j: string): string =>
  `(${stale(now, j)} OR ${longerThanCap(`${now} - ${j}.started_at`, j)})`;

/**
 * Whether a lease that is over ends at the cap, and not as a lost one.
 *
 * Of a stale lease only the running time counts that its heartbeats prove, from the claim to the last of them: after a night
 * without workers every lease was claimed longer ago than the cap, and no stage is at fault (LEASE-4).
 */
export const pastCap = (now: string, j: string): string =>
  `(${longerThanCap(`CASE WHEN ${stale(now, j)} THEN ${j}.locked_at ELSE ${now} END - ${j}.started_at`, j)})`;
