import { closestName } from './suggestion.js';
import { WorkflowError } from './workflow.error.js';

/** One fault of a definition: where it is, what is wrong, and what to do. */
export interface DefinitionComplaint {
  place: string;
  problem: string;
  todo?: string;
}

export interface InvalidDefinitionParams {
  /** The workflow, when all complaints are about one. */
  workflow?: string;
  complaints: readonly DefinitionComplaint[];
}

/** Definitions break the rules; carries every complaint, so that one boot shows them all. */
export class InvalidDefinitionError extends WorkflowError<InvalidDefinitionParams> {
  declare readonly code: 'INVALID_DEFINITION';

  constructor(params: InvalidDefinitionParams) {
    super('INVALID_DEFINITION', params);
  }

  get complaints(): readonly DefinitionComplaint[] {
    return this.params.complaints;
  }
}

export interface DefinitionDriftParams {
  workflow: string;
  version: number;
  /** Unfinished runs that were created with the other structure. */
  runs: number;
  /** What differs, in words. */
  changes?: string;
}

/** The structure of a version changed while runs of it are unfinished (DEF-4). */
export class DefinitionDriftError extends WorkflowError<DefinitionDriftParams> {
  declare readonly code: 'DEFINITION_DRIFT';

  constructor(params: DefinitionDriftParams) {
    super('DEFINITION_DRIFT', params);
  }
}

export interface ForeignDecoratorParams {
  /** Class, and method if any. */
  place: string;
  decorator: string;
  /** The package that the decorator came from. */
  from: string;
  /** What to use instead, as it is written in code. */
  use: string;
}

/** A decorator of the same name came from another package, so that nothing would have happened, silently. */
export class ForeignDecoratorError extends WorkflowError<ForeignDecoratorParams> {
  declare readonly code: 'FOREIGN_DECORATOR';

  constructor(params: ForeignDecoratorParams) {
    super('FOREIGN_DECORATOR', params);
  }
}

export interface UnknownWorkflowParams {
  workflow: string;
  version?: number;
  /** Ids that are known here; the nearest one is suggested. */
  known?: readonly string[];
}

/** No definition of this id, or of this version of it, exists here. */
export class UnknownWorkflowError extends WorkflowError<UnknownWorkflowParams & { suggestion?: string }> {
  declare readonly code: 'UNKNOWN_WORKFLOW';

  constructor({ workflow, version, known = [] }: UnknownWorkflowParams) {
    const suggestion = closestName(workflow, known);
    super('UNKNOWN_WORKFLOW', { workflow, version, known: known.slice(0, 20), suggestion });
  }
}

export interface WorkflowNotServedParams {
  workflow: string;
  version: number;
  runId: string;
  /** Versions that this build serves. */
  served?: readonly number[];
}

/** A run is pinned to a version that this build does not have; the run is left alone. */
export class WorkflowNotServedError extends WorkflowError<WorkflowNotServedParams> {
  declare readonly code: 'WORKFLOW_NOT_SERVED';

  constructor(params: WorkflowNotServedParams) {
    super('WORKFLOW_NOT_SERVED', params);
  }
}
