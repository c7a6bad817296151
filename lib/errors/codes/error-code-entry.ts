/** What the package says about one of its codes; the docs' table of codes is written from these. */
export interface ErrorCodeEntry {
  /**
   * The message in the default locale. `{name}` is replaced by the parameter of that name; a part in `[[…]]` is left
   * out as long as one of its parameters has no value.
   */
  readonly text: string;
  /** What the code stands for, in a sentence without parameters. */
  readonly meaning: string;
  /** Whether the engine tries again by itself when a stage fails with it. */
  readonly retried: boolean;
  /** Whether a run that failed with it can be retried by hand (`WorkflowService.retry`). */
  readonly byHand: boolean;
}
