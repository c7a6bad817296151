/**
 * `npm run soak -- 20`: every property test twenty times, each time by a new seed, until one fails. The suite itself has
 * one seed (`properties.ts`), so a counterexample that nobody knows yet is found here, and not in somebody's change.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';

const rounds = Number(process.argv[2] ?? 20);
const jest = ['node_modules/jest/bin/jest.js', '--config', 'jest.config.mjs', '--silent'];
const properties = ['--findRelatedTests', 'test/support/properties.ts'];

for (let round = 1; round <= rounds; round += 1) {
  const seed = String(randomInt(2 ** 31));
  process.stdout.write(`\nround ${round} of ${rounds}, PROPERTY_SEED=${seed}\n`);
  const env = { ...process.env, PROPERTY_SEED: seed };
  const { status } = spawnSync(process.execPath, [...jest, ...properties], { stdio: 'inherit', env });
  if (status !== 0) {
    process.stdout.write(`\nThe same again: PROPERTY_SEED=${seed} npm test -- <the file that failed>\n`);
    process.exitCode = 1;
    break;
  }
}
