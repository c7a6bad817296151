export interface GroupedCallsOptions<Asked, Answer> {
  /** Answers stand in the order of what was asked. */
  readonly call: (asked: readonly Asked[]) => Promise<readonly Answer[]>;
  /** Most in one group. */
  readonly most: number;
  /** Errors that one of a group is to blame for: each is then asked alone, in order. @default none */
  readonly isOnes?: (error: unknown) => boolean;
}

/**
 * Joins calls that come together into one: what is asked while a call is under way waits for it and goes as one group, in
 * the order in which it was asked. One round trip and one commit for many callers; an idle process waits for nobody.
 */
export class GroupedCalls<Asked, Answer> {
  readonly #waiting: Entry<Asked, Answer>[] = [];
  #working = false;
  #scheduled = false;

  constructor(private readonly options: GroupedCallsOptions<Asked, Answer>) {}

  /** Rejects with what the call for its group rejected with, or its own where that was one of the group's fault. */
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
    this.#working = true;
    while (this.#waiting.length > 0) await this.#answer(this.#waiting.splice(0, this.options.most));
    this.#working = false;
  }

  async #answer(group: readonly Entry<Asked, Answer>[]): Promise<void> {
    const { call, isOnes } = this.options;
    try {
      const answers = await call(group.map(({ asked }) => asked));
      group.forEach(({ resolve }, at) => resolve(answers[at]!));
    } catch (error) {
      if (group.length > 1 && isOnes?.(error)) for (const entry of group) await this.#answer([entry]);
      else for (const { reject } of group) reject(error);
    }
  }
}

interface Entry<Asked, Answer> {
  readonly asked: Asked;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}
