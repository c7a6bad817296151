/** What a row of the ledger allows, as SQL expressions on its alias. Of a row that isn't there each is NULL. */

/** It has come to what the body gets; a failure that the stage's retry opened again is none. */
export const hasOutcome = (s: string): string =>
  `(${s}.status = 'completed' OR ${s}.status = 'failed' AND NOT ${s}.reopened)`;

/** A body under another token holds it, and its lease lives. */
export const heldByAnother = (s: string, token: string, now: string): string =>
  `(${s}.status = 'running' AND ${s}.token <> ${token} AND ${s}.lease_until > ${now})`;

/** Tries so far: those of a failure that was opened again no longer count. */
export const triesOf = (s: string): string => `CASE WHEN ${s}.reopened THEN 0 ELSE ${s}.attempt END`;
