/**
 * Ends the output of a test run with one plain line: `N passed, N failed`.
 *
 * A test file that could not run at all counts as one failure. The line is also written to the file that
 * WF_TEST_COUNT_FILE names, for scripts that print more after the run.
 */
import { writeFileSync } from 'node:fs';

export default class CountReporter {
  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const line = `${results.numPassedTests} passed, ${failed} failed`;
    if (process.env.WF_TEST_COUNT_FILE) writeFileSync(process.env.WF_TEST_COUNT_FILE, `${line}\n`);
    process.stdout.write(`${line}\n`);
  }
}
