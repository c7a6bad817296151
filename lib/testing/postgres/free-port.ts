import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A port of the loopback interface that nobody used a moment ago: the operating system picks it. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.unref();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
