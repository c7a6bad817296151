import type { TestProcess } from '../support/processes.js';

/** A worker process whose bodies go on in the order in which they were entered, as many as the test says. */
export class HeldWorker {
  readonly #entered: string[] = [];
  #granted = 0;
  #whenEntered: (() => void)[] = [];

  constructor(readonly process: TestProcess) {
    void this.#read();
  }

  /** Stage runs whose bodies stand in the middle of their work, once there are some. */
  async held(): Promise<readonly string[]> {
    while (this.#entered.length <= this.#granted) await this.#next();
    return this.#entered.slice(this.#granted);
  }

  /** Resolves when the body of one of these stage runs is entered here. */
  async enters(stageRuns: readonly string[]): Promise<void> {
    while (!stageRuns.some((id) => this.#entered.includes(id))) await this.#next();
  }

  /** Lets so many bodies go on, those that are yet to come among them. */
  grant(count: number): void {
    this.#granted += count;
    this.process.send('permit', { count });
  }

  #next(): Promise<void> {
    return new Promise((resolve) => this.#whenEntered.push(resolve));
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const { stageRun } = await this.process.waitFor<{ stageRun: string }>('entered');
        this.#entered.push(stageRun);
        for (const tell of this.#whenEntered.splice(0)) tell();
      }
    } catch {
      // It was killed: nothing is entered there any more.
    }
  }
}
