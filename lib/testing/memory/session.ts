import type { NextId } from '../../engine/ports/ids.js';
import type { MemoryDatabase } from './memory-database.js';

/** What one call works with: the shared tables, where ids and claim tokens come from, and the time. */
export interface MemorySession {
  readonly db: MemoryDatabase;
  /** Milliseconds since 1970, offset included: read once a call, as `now()` is in a transaction. */
  readonly now: number;
  readonly nextId: NextId;
}
