import type { ErrorCodeEntry } from './error-code-entry.js';

/** What may be wrong with a workflow that is written as data. */
export const GRAPH_CODES = {
  INVALID_GRAPH: {
    text: 'The graph[[ {workflow}]] cannot be {action}:{problems}',
    meaning: 'A graph breaks the rules; `problems` has every fault with its code and place.',
    retried: false,
    byHand: false,
  },
  WORKFLOW_ID_TAKEN: {
    text: 'The workflow "{id}" is a class of this app already. Give the graph another id.',
    meaning: 'A graph has the id of a workflow in code, which is the one that would be started.',
    retried: false,
    byHand: false,
  },
  GRAPH_NOT_FOUND: {
    text: 'There is no {what} of a graph "{workflow}" here: the id is wrong, or it belongs to another owner. Look it up with list().',
    meaning: 'No such draft or version of a graph exists within the owner who asked.',
    retried: false,
    byHand: false,
  },
  DRAFT_CONFLICT: {
    text: 'The draft of "{workflow}" is not the one that was read any more: somebody saved[[ {revision}]] or published it meanwhile. Nothing was written; read it again, and bring the changes together.',
    meaning: 'Two people worked on one draft of a graph, and the other one was faster.',
    retried: false,
    byHand: false,
  },
  SHARED_GRAPH: {
    text: '{what} would change a graph that all owners share. Set the owner whose it is, or ask asOperator() where the caller was checked.',
    meaning: 'Nobody is the owner of a call that changes a graph, in an app whose rows have owners.',
    retried: false,
    byHand: false,
  },
  INVALID_SHAPE: {
    text: '{message}.',
    meaning: 'A part of a graph is missing, unknown, or of another type than the schema of graphs says.',
    retried: false,
    byHand: false,
  },
  INVALID_EXPRESSION: {
    text: 'The expression `{expression}` is not valid[[ at {place}]]: {message}.',
    meaning:
      'An expression is no CEL, does not fit the types that are known, speaks of what is not there, or is too large.',
    retried: false,
    byHand: true,
  },
  UNKNOWN_TYPE: {
    text: 'There is no node type "{type}".[[ Did you mean "{suggestion}"?]] Use a built-in type, or the id of a @Stage of this app.',
    meaning: 'A node of a graph has a type that is neither built in nor a stage of this app.',
    retried: false,
    byHand: false,
  },
  DUPLICATE_ID: {
    text: 'The {what} {id} has the id of {first}. Ids differ by more than case and blanks: give one of them another.',
    meaning: 'Two nodes or two triggers of a graph have the same id.',
    retried: false,
    byHand: false,
  },
  UNKNOWN_NODE: {
    text: 'There is no node "{node}" in this graph.[[ Did you mean "{suggestion}"?]]',
    meaning: 'An edge, the start or an expression names a node that the graph does not have.',
    retried: false,
    byHand: false,
  },
  UNKNOWN_OUTCOME: {
    text: 'Node {node} (type {type}) does not end with "{outcome}"; it ends with: {outcomes}.[[ Did you mean "{suggestion}"?]]',
    meaning: 'An edge belongs to an outcome that its node never has, or a stage ended with one that leads nowhere.',
    retried: false,
    byHand: true,
  },
  MISSING_EDGE: {
    text: 'Nothing follows where node {node} ends with "{outcome}". Add an edge from it with this outcome.',
    meaning: 'An outcome that a node may have leads nowhere.',
    retried: false,
    byHand: false,
  },
  DUPLICATE_EDGE: {
    text: 'Node {node} has a second edge for "{outcome}"; the first leads to {first}. Keep one of them; a parallel node runs several.',
    meaning: 'Two edges belong to the same outcome of a node.',
    retried: false,
    byHand: false,
  },
  DEAD_END: {
    text: 'Nothing follows node {node}. Add an edge from it, or make it a node of type end.',
    meaning: 'A node that is no end has no edge to go on by.',
    retried: false,
    byHand: false,
  },
  NO_END: {
    text: 'The graph has no node of type end. Add one, and lead to it.',
    meaning: 'A graph has no end, so that no run of it could complete.',
    retried: false,
    byHand: false,
  },
  UNREACHABLE_NODE: {
    text: 'No way leads from the start ({start}) to node {node}. Add an edge to it, or remove it.',
    meaning: 'A node of a graph is never run.',
    retried: false,
    byHand: false,
  },
  GRAPH_CYCLE: {
    text: 'This edge closes a circle: {cycle}. Only a node of type loop repeats others: let the circle begin at its outcome "each", and come back to it.',
    meaning: 'Nodes of a graph follow each other in a circle that is no body of a loop.',
    retried: false,
    byHand: false,
  },
  BODY_ENTERED: {
    text: 'A way leads from {from} into {body} at {to}, past {block}. A body is entered from {block} only, and left only back to it: lead this way elsewhere, or what leads out of the body.',
    meaning: 'The body of a loop, or a branch of a parallel node, is mixed with what lies outside of it.',
    retried: false,
    byHand: false,
  },
  BODY_NOT_CLOSED: {
    text: 'No way comes back from {body} to {block}. Add an edge to {block} where the body is done.',
    meaning: 'The body of a loop, or a branch of a parallel node, never comes back to it.',
    retried: false,
    byHand: false,
  },
  END_IN_BRANCH: {
    text: 'This edge ends the run, at {node}, inside {body}, while other branches go on. Lead back to {block}, and end after it.',
    meaning: 'A branch of a parallel node leads to an end.',
    retried: false,
    byHand: false,
  },
  OUTPUT_NOT_AVAILABLE: {
    text: 'output("{output}") can have no value here: no way leads from node {output} to {node}.',
    meaning: 'An expression reads the output of a node that cannot have run before.',
    retried: false,
    byHand: false,
  },
  APPROVAL_CANNOT_PASS: {
    text: 'The approval {node} can never pass: {reason}.',
    meaning: 'The rule of an approval asks for more than its approvers can give.',
    retried: false,
    byHand: true,
  },
  UNKNOWN_APPROVERS: {
    text: 'There are no approvers "{approvers}" in this app.[[ Did you mean "{suggestion}"?]][[ Known: {known}.]]',
    meaning: 'An expression names a resolver of approvers that the app does not have.',
    retried: false,
    byHand: true,
  },
  TRIGGER_REQUIRES_OWNER: {
    text: "{workflow} is shared by all owners, so that a run which its {trigger} trigger starts would be nobody's, and `owners.rowLevelSecurity` asks for an owner. Publish it for each owner who needs it (`owner`), or let an event start it: that run is of the owner of the event.",
    meaning: 'A graph that is shared by all owners has a schedule or a webhook, although row-level security is on.',
    retried: false,
    byHand: false,
  },
  UNKNOWN_ENTITY: {
    text: 'No changes of "{entity}" are told of in this app, so the trigger would never start a run.[[ Did you mean "{suggestion}"?]][[ Known: {known}.]] Name the class of the entity in `triggers.entities` of the module.',
    meaning: 'A trigger listens to changes of an entity that `triggers.entities` does not name.',
    retried: false,
    byHand: false,
  },
  INVALID_SCHEDULE: {
    text: '{what} {value} is not valid: {reason}.',
    meaning: 'A cron text or a time zone of a schedule cannot be used, or names no instant at all.',
    retried: false,
    byHand: false,
  },
} as const satisfies Record<string, ErrorCodeEntry>;
