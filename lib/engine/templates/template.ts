/**
 * A graph that is ready but for its parameters: what admins start from, instead of from nothing.
 *
 * Where `graph` holds `{ "$parameter": "signatures" }` it gets the value itself; where a text holds `{{limit}}` it gets the value as a
 * literal of the expression language: a text in quotes and escaped, so that no value is ever read as an expression.
 *
 * @publicApi
 */
export interface WorkflowTemplate {
  /** Unique among the templates of the app. */
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  /** What the parameters must look like: JSON Schema with `type: 'object'`, as a graph's `input`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Parameters with which it gives a valid graph; checked when the app boots. */
  readonly example: Readonly<Record<string, unknown>>;
  /** A graph with places for the parameters; its `id` is said when the template is used. */
  readonly graph: Readonly<Record<string, unknown>>;
}
