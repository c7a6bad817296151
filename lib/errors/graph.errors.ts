import { WorkflowError } from './workflow.error.js';

export interface InvalidExpressionParams {
  /** The expression as it was written; its beginning, when it is long. */
  expression: string;
  /** What is wrong, without a full stop. */
  message: string;
  /** Where in the text: '7', or '2:7' for the seventh character of its second line. */
  place?: string;
}

/** An expression of a graph cannot be used. */
export class InvalidExpressionError extends WorkflowError<InvalidExpressionParams> {
  declare readonly code: 'INVALID_EXPRESSION';

  constructor(params: InvalidExpressionParams, options?: { cause?: unknown }) {
    super('INVALID_EXPRESSION', params, options);
  }
}

/** One fault of a graph, as `validate` and errors show it. */
export interface GraphFault {
  readonly code: string;
  /** `$.nodes[3].config.if` */
  readonly path: string;
  readonly message: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface InvalidGraphParams {
  /** Id of the graph, where it has one. */
  workflow?: string;
  /** 'published', 'saved'. */
  action: string;
  problems: readonly GraphFault[];
}

/** A graph breaks the rules; carries every fault of it. */
export class InvalidGraphError extends WorkflowError<InvalidGraphParams> {
  declare readonly code: 'INVALID_GRAPH';

  constructor(params: InvalidGraphParams) {
    super('INVALID_GRAPH', params);
  }

  get problems(): readonly GraphFault[] {
    return this.params.problems;
  }
}

export interface GraphNotFoundParams {
  workflow: string;
  /** 'draft', 'version 3', 'published version'. */
  what: string;
}

/** No such draft or version within the owner who asked; another owner's reads the same. */
export class GraphNotFoundError extends WorkflowError<GraphNotFoundParams> {
  declare readonly code: 'GRAPH_NOT_FOUND';

  constructor(params: GraphNotFoundParams) {
    super('GRAPH_NOT_FOUND', params);
  }
}

export interface DraftConflictParams {
  workflow: string;
  /** Of the draft that stands now; null: there is none any more. */
  revision: string | null;
}

/** Somebody else saved or published the draft meanwhile; nothing was written. */
export class DraftConflictError extends WorkflowError<DraftConflictParams> {
  declare readonly code: 'DRAFT_CONFLICT';

  constructor(params: DraftConflictParams) {
    super('DRAFT_CONFLICT', params);
  }
}

export interface SharedGraphParams {
  /** The call. */
  what: string;
}

/** Only an operator changes what all owners share. */
export class SharedGraphError extends WorkflowError<SharedGraphParams> {
  declare readonly code: 'SHARED_GRAPH';

  constructor(params: SharedGraphParams) {
    super('SHARED_GRAPH', params);
  }
}
