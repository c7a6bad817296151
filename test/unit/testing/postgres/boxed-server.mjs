/**
 * Starts a server from the copy of the launcher beside this file and prints what it is, as a line of JSON; stops it on
 * the first word from its standard input. Prints the error's code when the server does not start.
 */
import { startEmbeddedPostgres } from './postgres/embedded-postgres.js';

try {
  const server = await startEmbeddedPostgres({ persistent: process.argv[2] === 'persistent' });
  console.log(JSON.stringify({ url: server.url(), pid: server.pid, dataDir: server.dataDir, reused: server.reused }));
  process.stdin.once('data', async () => {
    await server.stop();
    process.exit(0);
  });
} catch (error) {
  console.log(JSON.stringify({ code: error.code, message: String(error) }));
}
