import type { OwnerScope } from '../engine/ports/index.js';
import { readAuditFilter, type ListAuditOptions } from './audit/audit-filter.js';
import { toAuditView, type AuditEntryView } from './audit/audit-view.js';
import type { EngineReady } from './engine-port.js';

export interface AuditPage {
  readonly entries: readonly AuditEntryView[];
  /** Pass it as `after` for the next page; null = this was the last. */
  readonly after: string | null;
}

/**
 * Shows what operators asked for: who, what, why, when and from where, allowed or denied, for the owner of the caller.
 *
 * An allowed call's entry is written in the transaction of its change, so there is none of one without the other; a denial's at
 * once. Entries outlive their runs, and nothing of the engine changes one.
 *
 * @publicApi
 */
export class AuditService {
  readonly #ready: EngineReady;
  readonly #scopeOf: (where: string) => Promise<OwnerScope>;

  constructor(ready: EngineReady, scopeOf: (where: string) => Promise<OwnerScope>) {
    this.#ready = ready;
    this.#scopeOf = scopeOf;
  }

  /**
   * Entries, newest first, a page at a time.
   *
   * @throws InvalidOptionsError, UndefinedIdError, RunNotFoundError for a `run` that no run can have as its id
   */
  async list(options: ListAuditOptions = {}): Promise<AuditPage> {
    const where = 'audit.list';
    const filter = readAuditFilter(options, where);
    const scope = await this.#scopeOf(where);
    const { store } = await this.#ready();
    // One more than the page tells whether another follows, without counting.
    const rows = await store.listAudit({ ...filter, limit: filter.limit + 1 }, scope);
    const page = rows.slice(0, filter.limit);
    const last = page.at(-1);
    return { entries: page.map(toAuditView), after: rows.length > filter.limit && last ? last.id : null };
  }

  /** The same over all owners. Say it only where the caller was checked. */
  asOperator(): AuditService {
    return new AuditService(this.#ready, () => Promise.resolve({ all: true }));
  }
}
