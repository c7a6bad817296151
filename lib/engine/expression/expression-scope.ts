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
  /** What outputs are known to look like, by node; each may be null as well, and those of other nodes are anything. */
  readonly outputTypes?: ReadonlyMap<string, FieldType> | undefined;
}

/** What is known of a value: a CEL type (`string`, `bool`, `double` for any number, `list<string>`, `dyn` for anything), an object, a list of objects. */
export type FieldType = string | InputShape | readonly [InputShape];

/** The fields of an object by name, and no other. */
export interface InputShape {
  readonly [field: string]: FieldType;
}

/** The payload of an event, and nothing beside it: what is asked while nothing of a run is loaded. */
export const EVENT_SCOPE = Object.freeze<ExpressionScope>({ variables: ['event'], outputs: false });
