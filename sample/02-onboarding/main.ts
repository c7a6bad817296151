import { play } from './play.js';
import { Server } from './server.js';
import { readSettings, SettingsError } from './settings.js';

/** Exit code of a process that Ctrl-C ended, as shells know it: 128 + 2. */
const INTERRUPTED = 130;

async function main(): Promise<void> {
  const { serve: serves, port } = readSettings(process.argv.slice(2));
  await (serves ? serve(port) : play(process.stdout, port));
}

async function serve(port: number): Promise<void> {
  const server = new Server();
  let interrupted = false;
  const interrupt = (): void => {
    if (interrupted) process.exit(INTERRUPTED);
    interrupted = true;
    server.stop().then(() => (process.exitCode = INTERRUPTED), fail);
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  try {
    process.stdout.write(`HTTP: ${await server.start(port)} (Swagger at /api), until Ctrl-C\n`);
  } catch (error) {
    // What a stop tears down under a starting app is no news.
    if (interrupted) return;
    await server.stop();
    throw error;
  }
}

function fail(error: unknown): void {
  console.error(error instanceof SettingsError ? error.message : error);
  process.exitCode = 1;
}

main().catch(fail);
