import { WorkflowError } from './workflow.error.js';

export interface AuthorizationDeniedParams {
  /** What was denied: a stage of a run, or an operator's call. */
  what: string;
  ability?: string | null;
  reason?: string;
}

/** A policy said no, or could not say yes. */
export class AuthorizationDeniedError extends WorkflowError<AuthorizationDeniedParams> {
  declare readonly code: 'AUTHORIZATION_DENIED';

  constructor(params: AuthorizationDeniedParams, options?: { cause?: unknown }) {
    super('AUTHORIZATION_DENIED', params, options);
  }
}

export interface SubjectMissingParams {
  /** Type and id of the subject. */
  subject: string;
}

/** The subject does not exist within the run's owner. */
export class SubjectMissingError extends WorkflowError<SubjectMissingParams> {
  declare readonly code: 'SUBJECT_MISSING';

  constructor(params: SubjectMissingParams) {
    super('SUBJECT_MISSING', params);
  }
}

export interface OwnerMismatchParams {
  what: string;
}

/** The subject belongs to another owner than the run. */
export class OwnerMismatchError extends WorkflowError<OwnerMismatchParams> {
  declare readonly code: 'OWNER_MISMATCH';

  constructor(params: OwnerMismatchParams) {
    super('OWNER_MISMATCH', params);
  }
}
