/**
 * What makes a call atomic: every write notes how to undo it, and a call that throws is undone backwards.
 *
 * A call runs without an await between its first and last write, so that no other call sees it half done.
 */
export class Journal {
  #undos: (() => void)[] = [];
  #open = false;

  /** Runs `work` whole or not at all. What `work` throws is thrown on, after everything it wrote is gone. */
  transaction<T>(work: () => T): T {
    if (this.#open) throw new Error('A call of the in-memory store was made from inside another one.');
    this.#open = true;
    try {
      return work();
    } catch (error) {
      for (const undo of this.#undos.reverse()) undo();
      throw error;
    } finally {
      this.#undos = [];
      this.#open = false;
    }
  }

  /** Notes how to take back the write just made. */
  note(undo: () => void): void {
    if (!this.#open) throw new Error('A write outside a transaction of the in-memory store.');
    this.#undos.push(undo);
  }
}
