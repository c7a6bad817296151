import type { ErrorCodeEntry } from './error-code-entry.js';

/** Who may do what, and about whom. */
export const ACCESS_CODES = {
  AUTHORIZATION_DENIED: {
    text: '{what} was denied[[ the ability "{ability}"]][[: {reason}]]. Let an actor act who may, or change the policy.',
    meaning: 'A policy denied, threw, did not answer in time, or is missing.',
    retried: false,
    byHand: true,
  },
  OWNER_MISMATCH: {
    text: '{what} belongs to another owner now than the run does. Start a new run for its new owner.',
    meaning: "The subject's owner is not the run's owner any more.",
    retried: false,
    byHand: true,
  },
  OWNER_REQUIRED: {
    text: '{what} needs an owner, because `owners.rowLevelSecurity` is on. Pass `owner`, or have the middleware set it.',
    meaning: 'No owner was given although row-level security requires one.',
    retried: false,
    byHand: false,
  },
  OWNER_CONTEXT_MISUSED: {
    text: '`owners.context` called the function that it was given {how}[[ for owner {owner}]]. Let its run(owner, fn) call `fn` exactly once, and return what that returns.',
    meaning: 'The OwnerContext of the app did not call what it was to wrap, or not once.',
    retried: false,
    byHand: true,
  },
  ROW_POLICIES_MISSING: {
    text: "`owners.rowLevelSecurity` is on, but these tables are not guarded, or not as this version wants it: {tables}. Run `npx nestjs-workflow-engine migrate --row-level-security`, your own migrations with those of `createWorkflowMigrations` for `rowLevelSecurity`, or set `migrations: 'run'`.",
    meaning: 'Row-level security is on and tables lack their policies.',
    retried: false,
    byHand: false,
  },
  ROLE_NOT_RESTRICTED: {
    text: '`owners.rowLevelSecurity` is on, but row-level security does not hold the role "{role}": it {why}. Let the app log in as a role without such rights.',
    meaning: "The app's database role is exempt from row-level security, or sees rows without an owner.",
    retried: false,
    byHand: false,
  },
  DISPATCHER_DENIED: {
    text: 'The engine logs in as "{role}", which may not work as "{dispatcher}", the role that sees the rows of all owners. Let a privileged role run: {cure}',
    meaning: "The engine cannot take the dispatcher's role, which row-level security needs.",
    retried: false,
    byHand: false,
  },
  SUBJECT_MISSING: {
    text: 'The subject {subject} does not exist (any more) for this owner. Restore it and retry, or cancel the run.',
    meaning: 'The subject of a run could not be loaded within its owner.',
    retried: false,
    byHand: true,
  },
  MISSING_TRIGGERING_USER: {
    text: '{workflow} acts on behalf of the user who starts it, but there is none here. Pass `actor`, or let it act as the system.',
    meaning: 'A workflow that acts on behalf of its starter was started without a user.',
    retried: false,
    byHand: false,
  },
  ACTOR_REQUIRES_USER: {
    text: '{workflow} acts on behalf of the user who starts it, which a {trigger} trigger does not have. Set `actor` to system, or take the trigger away.',
    meaning: 'A trigger without a user stands on a workflow that needs one.',
    retried: false,
    byHand: false,
  },
  FIELD_NOT_WRITABLE: {
    text: 'The field {field} of {subject} was not written: {reason}. Name it in `writable` of @WorkflowSubject, or give the type a lifecycle with setField().',
    meaning: 'A node of type set_field wanted to write what the app does not let graphs write.',
    retried: false,
    byHand: true,
  },
  TRANSITION_DENIED: {
    text: 'The transition "{transition}" of {subject} was denied[[: {reason}]].',
    meaning: "The host's rules denied a transition; retried only where they say so.",
    retried: false,
    byHand: true,
  },
} as const satisfies Record<string, ErrorCodeEntry>;
