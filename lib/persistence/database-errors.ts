/** SQLSTATEs and classes that say "not now" rather than "not this". */
const TRANSIENT_STATES = /^(08|53|57P|40001|40P01|25006|25P03|57014|58030|26000|42P05)/;
/** Classes about the values: data exception, integrity constraint violation. */
const DATA_STATES = /^(22|23)/;
const LOCK_NOT_AVAILABLE = '55P03';

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
]);

/** `pg` gives these errors no code, so its words are all there is to tell them by. */
const DRIVER_MESSAGES = [
  /^Connection terminated/,
  /^timeout exceeded when trying to connect/,
  /^Query read timeout/,
  /^Client has encountered a connection error/,
  /^Client was closed and is not queryable/,
];

/** How deep wrappers are looked into: TypeORM's `driverError`, our own `cause`. */
const MAX_WRAPPERS = 5;

/**
 * Whether a failed call may be tried again unchanged: the connection broke, the server restarts, is full or read-only, the
 * transaction met a deadlock or a serialization conflict, was silent for too long, or a timeout that is not about a lock.
 *
 * Also when a prepared statement was lost or met behind a pooler; `EnginePool` goes on without names then.
 */
export function isTransientError(error: unknown): boolean {
  return someLayer(error, (layer) => {
    const state = sqlStateOfLayer(layer);
    if (state !== undefined) return TRANSIENT_STATES.test(state);
    return isNetworkError(layer);
  });
}

/** Whether an error is about the values written (SQLSTATE 22, 23): writing them again can't help, others may be fine. */
export function isDataError(error: unknown): boolean {
  return DATA_STATES.test(sqlStateOf(error) ?? '');
}

/** Whether `lock_timeout` or NOWAIT gave up waiting (55P03): somebody else holds the row. */
export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === LOCK_NOT_AVAILABLE;
}

/**
 * Whether the connection an error came from is to be thrown away: it broke, its server is going, an answer may still
 * arrive on it, or its session is read-only (a default that a session keeps for life, fault C23).
 */
export function breaksConnection(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === undefined ? someLayer(error, isNetworkError) : /^(08|57P|25006|25P03)/.test(state);
}

/** The five characters PostgreSQL gave the error, through wrappers; undefined for errors of the network or the driver. */
export function sqlStateOf(error: unknown): string | undefined {
  let state: string | undefined;
  someLayer(error, (layer) => (state = sqlStateOfLayer(layer)) !== undefined);
  return state;
}

/** Whether a prepared statement is missing (26000) or another one is in its place (42P05): a pooler swaps connections. */
export function isForeignStatementError(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === '26000' || state === '42P05';
}

function isNetworkError(layer: ErrorLayer): boolean {
  if (typeof layer.code === 'string' && NETWORK_CODES.has(layer.code)) return true;
  const { message } = layer;
  return typeof message === 'string' && DRIVER_MESSAGES.some((pattern) => pattern.test(message));
}

interface ErrorLayer {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly driverError?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** `EPIPE` is five characters too; every SQLSTATE has a digit. */
function sqlStateOfLayer({ code }: ErrorLayer): string | undefined {
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

function someLayer(error: unknown, found: (layer: ErrorLayer) => boolean, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > MAX_WRAPPERS) return false;
  const layer = error as ErrorLayer;
  if (found(layer)) return true;
  // Node tries every address of a host and answers with all their errors.
  const inner = Array.isArray(layer.errors) ? layer.errors : [];
  return [layer.driverError, layer.cause, ...inner].some((wrapped) => someLayer(wrapped, found, depth + 1));
}
