import { describeStore } from '../../lib/testing/conformance/index.js';
import { MemoryClock, MemoryDatabase, MemoryStore } from '../../lib/testing/memory/index.js';

describeStore('MemoryStore', async () => {
  const shared = { clock: MemoryClock.standing(), database: new MemoryDatabase() };
  const [store, second] = [new MemoryStore(shared), new MemoryStore(shared)];
  return { store, second, close: () => Promise.all([store.close(), second.close()]).then(() => undefined) };
});
