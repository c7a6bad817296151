/** How many jobs a worker may run at once, and how many it does. */
export class Slots {
  #taken = 0;

  constructor(readonly size: number) {}

  get free(): number {
    return this.size - this.#taken;
  }

  /** Enough are free to be worth a claim of their own: a statement for each freed slot would cost more than it brings. */
  get worthAClaim(): boolean {
    return this.free >= Math.max(1, this.size / 4);
  }

  take(): void {
    this.#taken++;
  }

  release(): void {
    this.#taken--;
  }
}
