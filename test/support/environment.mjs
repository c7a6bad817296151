/**
 * Node's environment plus one rule: a test file ends with nothing open.
 *
 * This can't be an `afterAll` of a setup file. Jest runs those in the order they are declared, so a check that is
 * declared before the test file would run before the file's own clean-up.
 */
import { TestEnvironment } from 'jest-environment-node';

/** More than an app takes whose bodies never end. */
const CLOSE_MS = 45_000;
const KEY = Symbol.for('workflow-tests:open-resources');

export default class TestFileEnvironment extends TestEnvironment {
  async handleTestEvent(event, state) {
    if (event.name !== 'run_finish') return;
    const problems = await this.#closeWhatIsOpen();
    // Added to the file's errors, not thrown: a failing test often leaves something open, and its message counts more.
    if (problems.length > 0) state.unhandledErrors.push(new Error(problems.join('\n')));
  }

  /** Returns a sentence for everything that should not have been open, or would not close. */
  async #closeWhatIsOpen() {
    const open = [...(this.global[KEY] ?? [])];
    const leaked = open.filter((resource) => !resource.automatic);
    const automatic = open.filter((resource) => resource.automatic).reverse();
    const problems = leaked.map(({ kind, name }) => `still open at the end of the file: ${kind} ${name}`);
    for (const resource of [...leaked, ...automatic]) {
      try {
        await inTime(resource.close());
      } catch (error) {
        problems.push(`could not close ${resource.kind} ${resource.name}: ${String(error)}`);
      }
    }
    return problems;
  }
}

/** A pool whose client a failed test still holds never ends: it would hold up the whole run, and hide what failed. */
async function inTime(closing) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it does not end within ${CLOSE_MS / 1_000} s`)), CLOSE_MS);
  });
  try {
    await Promise.race([closing, late]);
  } finally {
    clearTimeout(timer);
  }
}
