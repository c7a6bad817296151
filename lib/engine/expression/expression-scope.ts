/** What an expression may speak of; `docs/graphs.md` says what each is. */
export const EXPRESSION_VARIABLES = ['input', 'subject', 'owner', 'actor', 'now', 'event', 'approvers'] as const;

export type ExpressionVariable = (typeof EXPRESSION_VARIABLES)[number];

/** What is there where an expression stands. */
export interface ExpressionScope {
  readonly variables: readonly ExpressionVariable[];
  /** Whether there is `output("node")`. */
  readonly outputs: boolean;
  /** What `input` is known to look like; undefined = anything. */
  readonly input?: InputShape | undefined;
}

/**
 * The fields of an object by name: a CEL type (`string`, `bool`, `list<string>`, `dyn`) or an object again. Numbers are
 * `dyn`, so that whole ones and others mix.
 */
export interface InputShape {
  readonly [field: string]: string | InputShape;
}

/** The payload of an event, and nothing beside it: what is asked while nothing of a run is loaded. */
export const EVENT_SCOPE = Object.freeze<ExpressionScope>({ variables: ['event'], outputs: false });
