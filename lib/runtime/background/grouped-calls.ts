/**
 * Joins calls that come together into one: what is asked while a call is under way waits for it and goes as one group, in
 * the order in which it was asked. One round trip and one commit for many callers; an idle process waits for nobody.
 */
export class GroupedCalls<Asked, Answer> {
  readonly #waiting: Entry<Asked, Answer>[] = [];
  #working = false;
  #scheduled = false;

  constructor(
    /** Answers stand in the order of what was asked. */
    private readonly call: (asked: readonly Asked[]) => Promise<readonly Answer[]>,
    private readonly most: number,
  ) {}

  /** Rejects with what the call for its group rejected with. */
  ask(asked: Asked): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ asked, resolve, reject });
      if (this.#scheduled || this.#working) return;
      this.#scheduled = true;
      // What other callers ask in this turn of the event loop comes along.
      setImmediate(() => {
        this.#scheduled = false;
        void this.#work();
      });
    });
  }

  async #work(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, this.most);
      try {
        const answers = await this.call(group.map(({ asked }) => asked));
        group.forEach(({ resolve }, at) => resolve(answers[at]!));
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#working = false;
  }
}

interface Entry<Asked, Answer> {
  readonly asked: Asked;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}
