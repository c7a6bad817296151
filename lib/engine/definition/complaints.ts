import { InvalidOptionsError, type DefinitionComplaint } from '../../errors/index.js';
import { thrownMessage } from '../codec/thrown-text.js';

/** Gathers what is wrong with definitions, so that one boot shows everything. */
export class Complaints {
  readonly list: DefinitionComplaint[] = [];

  add(place: string, problem: string, todo?: string): void {
    this.list.push(todo === undefined ? { place, problem } : { place, problem, todo });
  }

  addThrown(place: string, what: string, error: unknown): void {
    this.add(place, `${what}: ${thrownMessage(error)}`);
  }

  get any(): boolean {
    return this.list.length > 0;
  }

  /**
   * What `read` returns, or undefined with a complaint for each problem of what it threw.
   *
   * @param prefix stands before the names of options in problems
   */
  attempt<T>(place: string, read: () => T, prefix = ''): T | undefined {
    try {
      return read();
    } catch (error) {
      if (error instanceof InvalidOptionsError) {
        for (const { path, message } of error.problems) this.add(place, `${prefix}${path} ${message}`);
      } else this.add(place, thrownMessage(error));
      return undefined;
    }
  }
}
