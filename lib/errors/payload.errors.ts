import { WorkflowError } from './workflow.error.js';

/** What a schema complains about: the part of a zod issue that every zod (and Standard Schema) has. */
export interface SchemaIssue {
  readonly path?: string | readonly PropertyKey[];
  readonly message: string;
}

export interface InvalidInputParams {
  /** Whose input: a workflow or a stage. */
  what: string;
  issues: readonly SchemaIssue[];
}

/** An input was refused; nothing was written. */
export class InvalidInputError extends WorkflowError<InvalidInputParams> {
  declare readonly code: 'INVALID_INPUT';

  constructor({ what, issues }: InvalidInputParams, options?: { cause?: unknown }) {
    super('INVALID_INPUT', { what, issues }, options);
  }

  get issues(): readonly SchemaIssue[] {
    return this.params.issues;
  }
}

export interface InvalidConfigParams {
  /** The node, with its workflow. */
  place: string;
  issues: readonly SchemaIssue[];
}

/** The config of a node does not fit its stage's schema. */
export class InvalidConfigError extends WorkflowError<InvalidConfigParams> {
  declare readonly code: 'INVALID_CONFIG';

  constructor({ place, issues }: InvalidConfigParams, options?: { cause?: unknown }) {
    super('INVALID_CONFIG', { place, issues }, options);
  }

  get issues(): readonly SchemaIssue[] {
    return this.params.issues;
  }
}

export interface InvalidOutputParams {
  /** Whose output. @default 'The body' */
  what?: string;
  /** Where in the value, `$` being the value itself: `$.items[3].at`. */
  path: string;
  /** Goes on the sentence that the path begins: "is a Date, …". */
  reason: string;
  /** The beginning of a value that was too large. */
  preview?: string;
}

/** A value cannot be stored as it is; the attempt fails, for good. */
export class InvalidOutputError extends WorkflowError<InvalidOutputParams> {
  declare readonly code: 'INVALID_OUTPUT';

  constructor({ what = 'The body', ...rest }: InvalidOutputParams, options?: { cause?: unknown }) {
    super('INVALID_OUTPUT', { what, ...rest }, options);
  }

  get path(): string {
    return this.params.path;
  }

  get reason(): string {
    return this.params.reason;
  }
}

export interface OutputMissingParams {
  /** The stage or node that was asked for. */
  wanted: string;
  /** The stage that asked. */
  where?: string;
  /** Nodes that have an output. */
  known?: readonly string[];
}

/** `ctx.require` asked for an output that does not exist. */
export class OutputMissingError extends WorkflowError<OutputMissingParams> {
  declare readonly code: 'OUTPUT_MISSING';

  constructor(params: OutputMissingParams) {
    super('OUTPUT_MISSING', params);
  }
}

export interface AmbiguousStageParams {
  stage: string;
  nodes: readonly string[];
}

/** A stage class names several nodes; the key of one is needed. */
export class AmbiguousStageError extends WorkflowError<AmbiguousStageParams> {
  declare readonly code: 'AMBIGUOUS_STAGE';

  constructor(params: AmbiguousStageParams) {
    super('AMBIGUOUS_STAGE', params);
  }
}

export interface UnreadablePayloadParams {
  what: string;
  reason: string;
}

/** A stored payload is no JSON (any more). */
export class UnreadablePayloadError extends WorkflowError<UnreadablePayloadParams> {
  declare readonly code: 'UNREADABLE_PAYLOAD';

  constructor(params: UnreadablePayloadParams, options?: { cause?: unknown }) {
    super('UNREADABLE_PAYLOAD', params, options);
  }
}
