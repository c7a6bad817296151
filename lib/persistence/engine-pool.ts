import type { DataSource, EntitySchema } from 'typeorm';
import { UnsupportedDatabaseError } from '../errors/index.js';
import { breaksConnection, isForeignStatementError } from './database-errors.js';
import { engineDataSource } from './data-source/engine-data-source.js';
import type { EngineLogin } from './data-source/engine-login.js';
import { newClient, poolOf } from './data-source/postgres-driver.js';
import type { PooledClient, PostgresClient, PostgresPool, PostgresResult } from './data-source/postgres-driver.js';
import { FOUND_LIMITS, LONGEST_SILENCE_MS, silenceLimits, silenceSettings } from './data-source/silence.js';
import type { FoundLimits, SilenceLimits } from './data-source/silence.js';
import { RESULT_TYPES } from './data-source/result-types.js';
import { wireNameOf } from './data-source/statement.js';
import type { Statement } from './data-source/statement.js';
import { warnByLogger } from './data-source/warn.js';
import type { Warn } from './data-source/warn.js';
import { setOwnerText } from './row-level-security/owner-setting.js';

export type { EngineLogin } from './data-source/engine-login.js';
export type { PostgresClient, PostgresNotification } from './data-source/postgres-driver.js';
export type { Statement } from './data-source/statement.js';

export interface EnginePoolOptions {
  /** Most connections held at once, beside those of the host. @default 3 */
  readonly size?: number;
  /**
   * Prepare statements by name, which saves the server a third of its work. `false` behind a pooler that hands every
   * transaction another connection (PgBouncer in transaction mode). @default true
   */
  readonly named?: boolean;
  /** Who logs in, instead of the host. @default the host's DataSource */
  readonly login?: EngineLogin;
  /**
   * After how long the server ends a transaction in which nothing comes from here, or whose answer is not taken here, at most
   * 30 s. Shorter limits of the role, the database or the server stand. @default 30_000
   */
  readonly silenceMs?: number;
  /** Entities that reads through `dataSource` need. @default none */
  readonly entities?: readonly EntitySchema[];
  /** Told of broken connections and slow paths, never of a failed statement. @default Nest's logger */
  readonly warn?: Warn;
}

export interface TransactionOptions {
  /** A lock is waited for this long, then error 55P03. @default as long as it takes */
  readonly lockTimeoutMs?: number;
}

/** Runs a statement inside the transaction that handed it out. */
export type TransactionQuery = <Row>(statement: Statement, values?: unknown[]) => Promise<Row[]>;

const DEFAULT_SIZE = 3;
const OLDEST_SERVER = 130_000;
/** How long `close` waits for statements under way before it breaks their connections (fault K14). */
const CLOSE_GRACE_MS = 5_000;

interface ServerAnswer extends FoundLimits {
  readonly version: number;
  readonly versionText: string;
  readonly isolation: string;
}

const SERVER: Statement = {
  name: 'server',
  text: `SELECT current_setting('server_version_num')::int AS "version", current_setting('server_version') AS "versionText",
    current_setting('default_transaction_isolation') AS "isolation", ${FOUND_LIMITS}`,
};

/**
 * The engine's own few connections to the host's database: its statements never wait for connections that stage bodies
 * hold (20 bodies in host transactions on a pool of 10 would otherwise hang for ever, heartbeats too).
 *
 * Broken connections are logged and replaced at the next use; a call that was under way rejects with a transient error
 * (`isTransientError`) and may or may not have been committed. Nothing here retries and no session state is kept.
 *
 * A process that stands still in the middle of a transaction (stopped, its machine paused, cut off) would hold rows that nobody
 * can reap: the server ends its transaction once it was silent for so long, or has not taken an answer for so long (LEASE-3). That
 * is a transient error to it, if it comes back. How long is learned when the pool is opened, with the server's version.
 *
 * Every statement runs READ COMMITTED. Transactions say so when they begin. Where the database's default is stricter
 * (fault K28), single statements become short transactions too: right, and behind any pooler, for two more round trips,
 * which is logged with the cure. Setting it on the session instead would leak through PgBouncer.
 *
 * Under row-level security every transaction says what it works as when it begins, in the same round trip: the dispatcher
 * (`actAs`), or one owner (`transactionOf`). Single statements are short transactions then too.
 *
 * Columns are read as `data-source/result-types.ts` says, not as the host configured `pg`.
 */
export class EnginePool {
  private readonly guarded = new WeakSet<PostgresClient>();
  private readonly broken = new WeakSet<PostgresClient>();
  private readonly busy = new Set<PooledClient>();
  private strict = false;
  private limits!: SilenceLimits;
  private begin!: string;
  private role: string | undefined;
  private closing: Promise<void> | undefined;

  private constructor(
    /** For reads through TypeORM; shares the pool's connections. Gone after `close`. */
    readonly dataSource: DataSource,
    private readonly pool: PostgresPool,
    private named: boolean,
    private readonly silenceMs: number,
    private readonly warn: Warn,
  ) {
    // As early as that: a server that is going may end a connection in the very chunk that makes it ready.
    pool.on('connect', (client) => this.guard(client));
  }

  /**
   * Connects. The host's DataSource need not be initialised; its options are what counts.
   *
   * @throws UnsupportedDatabaseError for anything but PostgreSQL 13 or later, or a TypeORM without the pool we know
   */
  static async open(host: DataSource, options: EnginePoolOptions = {}): Promise<EnginePool> {
    const { size = DEFAULT_SIZE, named = true, login, entities = [], warn = warnByLogger('EnginePool') } = options;
    const { silenceMs = LONGEST_SILENCE_MS } = options;
    const onPoolError = (error: unknown): void => warn(`A connection of the engine broke: ${String(error)}`);
    const dataSource = engineDataSource(host, { size, login, entities, onPoolError });
    await dataSource.initialize();
    try {
      const pool = new EnginePool(dataSource, poolOf(dataSource), named, silenceMs, warn);
      await pool.inspectServer();
      return pool;
    } catch (error) {
      await dataSource.destroy();
      throw error;
    }
  }

  /** What statements that are transactions by themselves limit their answers by; see `SilenceLimits`. */
  get sendMs(): number {
    return this.limits.sendMs;
  }

  /** Works as this role from now on; no connection's session does, each transaction takes it for its own length. */
  actAs(role: string): void {
    this.role = role;
  }

  /** Runs one statement in a transaction of its own. */
  async query<Row>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    if (this.strict || this.role !== undefined) return this.transaction((query) => query<Row>(statement, values));
    return this.unnamedOnceLost(() =>
      this.withClient(async (client) => rowsOf<Row>(await this.send(client, statement, values))),
    );
  }

  /**
   * Runs statements in one READ COMMITTED transaction on one connection; commits when `work` resolves, rolls back when it
   * rejects. The error is the first one; a rollback that fails too doesn't hide it. Where a pooler lost a prepared statement
   * all of `work` is done again, once, after the rollback.
   *
   * A commit that rejects with a transient error may have happened: re-read before concluding anything.
   */
  transaction<T>(work: (query: TransactionQuery) => Promise<T>, options?: TransactionOptions): Promise<T> {
    const role = this.role === undefined ? [] : [`SET LOCAL ROLE "${this.role.replaceAll('"', '""')}"`];
    return this.begun([...role, ...settingsOf(options)], work);
  }

  /** The same in a session of one owner, on the role that the pool logs in as: row-level security holds it. */
  transactionOf<T>(
    owner: string,
    work: (query: TransactionQuery) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    return this.begun([setOwnerText(owner), ...settingsOf(options)], work);
  }

  /** @param settings what holds until the end of the transaction, sent along with its begin */
  private begun<T>(settings: readonly string[], work: (query: TransactionQuery) => Promise<T>): Promise<T> {
    const begin = [this.begin, ...settings].join('; ');
    return this.unnamedOnceLost(() => this.withClient((client) => this.inTransaction(client, begin, work)));
  }

  private async inTransaction<T>(
    client: PooledClient,
    begin: string,
    work: (query: TransactionQuery) => Promise<T>,
  ): Promise<T> {
    let open = true;
    const query: TransactionQuery = async <Row>(statement: Statement, values: unknown[] = []) => {
      if (!open) throw new Error(`The transaction is over, "${statement.name}" came too late.`);
      return rowsOf<Row>(await this.send(client, statement, values));
    };
    let answer: T;
    try {
      await client.query({ text: begin });
      answer = await work(query);
      open = false;
    } catch (error) {
      open = false;
      await this.rollBack(client, error);
      throw error;
    }
    const { command } = await client.query({ text: 'COMMIT' });
    // A statement failed and its error was swallowed: PostgreSQL answers COMMIT with a rollback, without an error.
    if (command !== 'COMMIT') throw new Error('Rolled back: a statement failed and its error went unnoticed.');
    return answer;
  }

  /** The server refused to run a statement under its name and has done nothing: all of it can safely be sent again, without names. */
  private async unnamedOnceLost<T>(work: () => Promise<T>): Promise<T> {
    // Asked before: a call beside this one may have found out meanwhile.
    const { named } = this;
    try {
      return await work();
    } catch (error) {
      if (!named || !isForeignStatementError(error)) throw error;
      this.goOnUnnamed();
      return work();
    }
  }

  /**
   * A connection outside the pool, for LISTEN. The caller ends it, and hears of its end by `end`; errors never throw.
   *
   * @param url instead of the DataSource's own, when that one leads through a pooler
   */
  async connectListener(url?: string): Promise<PostgresClient> {
    const client = newClient(this.pool, url);
    await client.connect();
    return client;
  }

  /** Ends all connections, after at most `CLOSE_GRACE_MS`, even if a statement hangs. Later calls reject. */
  close(): Promise<void> {
    return (this.closing ??= this.end());
  }

  private async end(): Promise<void> {
    const breakOff = setTimeout(() => {
      for (const client of this.busy) void client.end();
    }, CLOSE_GRACE_MS);
    try {
      await this.dataSource.destroy();
    } finally {
      clearTimeout(breakOff);
    }
  }

  private async inspectServer(): Promise<void> {
    const [server] = await this.query<ServerAnswer>(SERVER);
    if (server === undefined || server.version < OLDEST_SERVER) {
      const needs = 'PostgreSQL 13 or later is needed';
      throw new UnsupportedDatabaseError({ database: 'postgres', version: server?.versionText, needs });
    }
    this.limits = silenceLimits(this.silenceMs, server);
    this.begin = ['BEGIN ISOLATION LEVEL READ COMMITTED', ...silenceSettings(this.limits)].join('; ');
    this.strict = !['read committed', 'read uncommitted'].includes(server.isolation);
    if (this.strict) {
      this.warn(
        `Transactions of this database are ${server.isolation} by default; the engine's statements run READ COMMITTED in ` +
          "explicit transactions, at two more round trips each. To spare them: ALTER ROLE … SET default_transaction_isolation = 'read committed'.",
      );
    }
  }

  /** Checks out a client, puts it back if it is still good. */
  private async withClient<T>(work: (client: PooledClient) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    this.guard(client);
    this.busy.add(client);
    let destroy = false;
    try {
      return await work(client);
    } catch (error) {
      destroy = breaksConnection(error);
      throw error;
    } finally {
      this.busy.delete(client);
      client.release(destroy || this.broken.has(client));
    }
  }

  /** A checked-out client has no listener of the pool's; without one its end is an uncaught exception (fault G1). */
  private guard(client: PooledClient): void {
    if (this.guarded.has(client)) return;
    this.guarded.add(client);
    client.on('error', () => this.broken.add(client));
  }

  private async rollBack(client: PooledClient, cause: unknown): Promise<void> {
    // It would only wait behind the statement that never answered.
    if (breaksConnection(cause) || this.broken.has(client)) return;
    try {
      await client.query({ text: 'ROLLBACK' });
    } catch {
      this.broken.add(client);
      this.warn(`A rollback failed, its connection was closed. It followed: ${String(cause)}`);
    }
  }

  private send(client: PostgresClient, statement: Statement, values: unknown[]): Promise<PostgresResult> {
    const { text } = statement;
    return client.query(
      this.named
        ? { name: wireNameOf(statement), text, values, types: RESULT_TYPES }
        : { text, values, types: RESULT_TYPES },
    );
  }

  private goOnUnnamed(): void {
    if (!this.named) return;
    this.named = false;
    this.warn(
      'Prepared statements get lost between transactions, as behind PgBouncer in transaction mode. The engine goes on ' +
        'without them.',
    );
  }
}

function settingsOf({ lockTimeoutMs }: TransactionOptions = {}): string[] {
  return lockTimeoutMs === undefined ? [] : [`SET LOCAL lock_timeout = ${Math.max(1, Math.round(lockTimeoutMs))}`];
}

function rowsOf<Row>(result: PostgresResult): Row[] {
  return result.rows as Row[];
}
