import { WorkflowError } from './workflow.error.js';

export interface AuthorizationDeniedParams {
  /** What was denied: a stage of a run, or an operator's call. */
  what: string;
  /** Of a call of an operator: which one. */
  operation?: string;
  ability?: string | null;
  reason?: string;
}

/** A policy said no, or could not say yes. */
export class AuthorizationDeniedError extends WorkflowError<AuthorizationDeniedParams> {
  declare readonly code: 'AUTHORIZATION_DENIED';

  constructor({ reason, ...params }: AuthorizationDeniedParams, options?: { cause?: unknown }) {
    // The catalogue's sentence goes on after the reason.
    const said = reason?.trim().replace(/(?<!\.)\.$/, '');
    super('AUTHORIZATION_DENIED', said ? { ...params, reason: said } : params, options);
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

export interface TransitionDeniedParams {
  /** The state that it was to get to. */
  transition: string;
  /** Type and id of the subject. */
  subject: string;
  /** Without a full stop. */
  reason?: string | undefined;
}

/** A subject may not be moved there, now or ever. */
export class TransitionDeniedError extends WorkflowError<TransitionDeniedParams> {
  declare readonly code: 'TRANSITION_DENIED';
  /** Milliseconds before it is worth trying again. */
  declare readonly retryAfterMs?: number;

  constructor(
    params: TransitionDeniedParams,
    { retryAfterMs, ...options }: { retryable?: boolean; retryAfterMs?: number } = {},
  ) {
    super('TRANSITION_DENIED', params, options);
    if (retryAfterMs !== undefined) Object.assign(this, { retryAfterMs });
  }
}

export interface FieldNotWritableParams {
  field: string;
  /** Its type. */
  subject: string;
  /** Without a full stop. */
  reason: string;
}

/** A graph may not write this field of a subject. */
export class FieldNotWritableError extends WorkflowError<FieldNotWritableParams> {
  declare readonly code: 'FIELD_NOT_WRITABLE';

  constructor(params: FieldNotWritableParams) {
    super('FIELD_NOT_WRITABLE', params);
  }
}

export interface OwnerRequiredParams {
  /** The call, or what would have to belong to somebody. */
  what: string;
}

/** Under row-level security nothing is nobody's. */
export class OwnerRequiredError extends WorkflowError<OwnerRequiredParams> {
  declare readonly code: 'OWNER_REQUIRED';

  constructor(params: OwnerRequiredParams) {
    super('OWNER_REQUIRED', params);
  }
}

export interface OwnerContextMisusedParams {
  /** For whom something was to run. */
  owner: string | null;
  how: 'not at all' | 'more than once' | 'too late';
}

/** The host's `owners.context` did not call what it was given, or not once. */
export class OwnerContextMisusedError extends WorkflowError<OwnerContextMisusedParams> {
  declare readonly code: 'OWNER_CONTEXT_MISUSED';

  constructor(params: OwnerContextMisusedParams, options?: { cause?: unknown }) {
    super('OWNER_CONTEXT_MISUSED', params, options);
  }
}

export interface RowPoliciesMissingParams {
  /** Tables that are not guarded, or not as this version wants it. */
  tables: readonly string[];
}

/** `owners.rowLevelSecurity` is on, and tables lack it: a boot error. */
export class RowPoliciesMissingError extends WorkflowError<RowPoliciesMissingParams> {
  declare readonly code: 'ROW_POLICIES_MISSING';

  constructor(params: RowPoliciesMissingParams) {
    super('ROW_POLICIES_MISSING', params);
  }
}

export interface RoleNotRestrictedParams {
  /** The database role of the app. */
  role: string;
  /** "is a superuser", "sees rows of …". */
  why: string;
}

/** Row-level security does not hold the role that the app logs in as: a boot error. */
export class RoleNotRestrictedError extends WorkflowError<RoleNotRestrictedParams> {
  declare readonly code: 'ROLE_NOT_RESTRICTED';

  constructor(params: RoleNotRestrictedParams) {
    super('ROLE_NOT_RESTRICTED', params);
  }
}

export interface DispatcherDeniedParams {
  /** The database role that the engine logs in as. */
  role: string;
  /** The one that sees all rows. */
  dispatcher: string;
  /** The grant that is missing, as SQL or a command. */
  cure: string;
}

/** The engine cannot work as the role that sees the rows of all owners: a boot error. */
export class DispatcherDeniedError extends WorkflowError<DispatcherDeniedParams> {
  declare readonly code: 'DISPATCHER_DENIED';

  constructor(params: DispatcherDeniedParams, options?: { cause?: unknown }) {
    super('DISPATCHER_DENIED', params, options);
  }
}
