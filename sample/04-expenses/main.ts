import { play } from './play.js';

play(process.stdout).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
