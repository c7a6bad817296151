import { Sample } from './sample.js';
import { readSettings, SettingsError } from './settings.js';

/** Exit code of a process that Ctrl-C ended, as shells know it: 128 + 2. */
const INTERRUPTED = 130;

async function main(): Promise<void> {
  const settings = readSettings(process.argv.slice(2), process.env);
  const sample = new Sample(settings, process.stdout);
  let interrupted = false;

  const interrupt = (): void => {
    if (interrupted) process.exit(INTERRUPTED);
    interrupted = true;
    process.stdout.write('\nHanding running stages back (Ctrl-C again to drop them) …\n');
    sample.stop().then(
      () => {
        process.stdout.write('Stopped in order. `npm start` goes on where this stopped.\n');
        process.exitCode = INTERRUPTED;
      },
      (error: unknown) => fail(error),
    );
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);

  try {
    await sample.run();
    if (settings.exit && !interrupted) await sample.stop();
  } catch (error) {
    // What a stop tears down under a starting app is no news.
    if (interrupted) return;
    await sample.stop();
    throw error;
  }
}

function fail(error: unknown): void {
  console.error(error instanceof SettingsError ? error.message : error);
  process.exitCode = 1;
}

main().catch(fail);
