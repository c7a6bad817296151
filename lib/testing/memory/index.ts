export { MemoryClock } from './memory-clock.js';
export type { StoreClock } from './memory-clock.js';
export { MemoryDatabase } from './memory-database.js';
export { MemoryStore } from './memory-store.js';
export type { MemoryStoreOptions } from './memory-store.js';
