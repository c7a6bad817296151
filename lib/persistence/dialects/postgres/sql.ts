/** The engine's clock: the database's, plus the offset that only the testing kit moves (milliseconds, a parameter). */
export const clock = (parameter: string): string => `(now() + ${parameter}::float8 * interval '1 millisecond')`;

/** `milliseconds` (an SQL expression) as an interval. */
export const milliseconds = (expression: string): string => `(${expression}) * interval '1 millisecond'`;

/** A timestamp as ISO 8601 text in UTC, whatever the session's zone and the host's parsers are. */
export const isoText = (expression: string): string =>
  `to_char((${expression}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** The columns of an upsert `AS held`: the new values where the old row no longer counts, an SQL condition, else those that stand. */
export const replaced = (columns: readonly string[], gone: string): string =>
  columns.map((column) => `${column} = CASE WHEN ${gone} THEN EXCLUDED.${column} ELSE held.${column} END`).join(', ');

export const OUTBOX_SLOTS = 16;

/**
 * That two rows belong to the same owner. Under row-level security somebody may write rows of his own that name another's run or stage
 * run: whatever is joined by such an id is joined by its owner too, and a row that isn't coherent is acted on by nobody.
 */
export const sameOwner = (a: string, b: string): string => `${a}.owner_id IS NOT DISTINCT FROM ${b}.owner_id`;

/** Whether a stage run is an escalation, by the form of its key (`escalation-key.ts`). */
export const isEscalated = (stageRun: string): string => `strpos(${stageRun}.key, '#') > 0`;

/** Hash slot of a run: all of a run's events go through one relay, in order (EVT-1). The last byte of a UUIDv7 is random. */
export const slotOf = (runId: string): string => `(get_byte(uuid_send(${runId}), 15) % ${OUTBOX_SLOTS})::smallint`;

/** Values of `jobs.kind`. */
export const EXECUTE = 0;
export const CANCEL = 1;

/** Values of `jobs.state`. */
export const DUE = 0;
export const CLAIMED = 1;
export const DELAYED = 2;
/** Due, and given to an external transport; never there without one. */
export const SENT = 3;

/** Statuses that end a run, as an SQL list. */
export const ENDED = `('COMPLETED', 'FAILED', 'CANCELLED')`;
export const OPEN_RUN = `('PENDING', 'RUNNING')`;
export const OPEN_STAGE_RUN = `('PENDING', 'RUNNING', 'SUSPENDED')`;
