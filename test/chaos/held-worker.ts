import type { TestProcess } from '../support/processes.js';

/**
 * A worker process whose bodies go on in the order in which they were entered, as many as the test says. Waiting rejects, with what it
 * printed, when the process is gone.
 */
export class HeldWorker {
  readonly #entered: string[] = [];
  #granted = 0;
  #next: Promise<void>;

  constructor(private readonly process: TestProcess) {
    this.#next = this.#read();
    this.#next.catch(() => undefined);
  }

  /** Stage runs whose bodies stand in the middle of their work, once there are some. */
  async held(): Promise<readonly string[]> {
    while (this.#entered.length <= this.#granted) await this.#next;
    return this.#entered.slice(this.#granted);
  }

  /** Resolves when the body of one of these stage runs is entered here. */
  async enters(stageRuns: readonly string[]): Promise<void> {
    while (!stageRuns.some((id) => this.#entered.includes(id))) await this.#next;
  }

  /** Lets so many bodies go on, those that are yet to come among them. */
  grant(count: number): void {
    this.#granted += count;
    this.process.send('permit', { count });
  }

  /** Takes what is entered next, and then goes on to the one after it. */
  async #read(): Promise<void> {
    const { stageRun } = await this.process.waitFor<{ stageRun: string }>('entered');
    this.#entered.push(stageRun);
    this.#next = this.#read();
    // Nobody may be waiting when it is killed.
    this.#next.catch(() => undefined);
  }
}
