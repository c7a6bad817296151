import type { ErrorCodeEntry } from './error-code-entry.js';

export const DEFINITION_CODES = {
  INVALID_DEFINITION: {
    text: 'The workflow definitions[[ of {workflow}]] are not valid:{complaints}',
    meaning: 'Definitions contradict the rules; the message lists every complaint with its place.',
    retried: false,
    byHand: false,
  },
  DEFINITION_DRIFT: {
    text: "Workflow {workflow} version {version} has changed its structure while {runs} unfinished runs were created with the old one.[[ Changed: {changes}.]] Raise the version in @Workflow and keep the old class until its runs are done, or set `onDrift: 'warn'` to go on at your own risk.",
    meaning: 'The same id and version was booted with another structure than unfinished runs were created with.',
    retried: false,
    byHand: false,
  },
  FOREIGN_DECORATOR: {
    text: '{place} carries @{decorator} of {from}, which this engine does not read. Import {use} from nestjs-workflow-engine instead.',
    meaning: 'A decorator of the same name was imported from another package.',
    retried: false,
    byHand: false,
  },
  UNKNOWN_WORKFLOW: {
    text: 'There is no workflow "{workflow}"[[ version {version}]] in this app.[[ Did you mean "{suggestion}"?]][[ Known: {known}.]] List its @Workflow class in the providers of a module, or publish a graph of this id.',
    meaning: 'No definition of this id (and version) was found.',
    retried: false,
    byHand: true,
  },
  WORKFLOW_NOT_SERVED: {
    text: 'This process does not serve workflow "{workflow}" version {version}[[ (it serves: {served})]]. Run {runId} stays where it is for a process that does; deploy one, or move the run with migrateRun.',
    meaning: 'A run is pinned to a version of its definition that this build no longer has.',
    retried: true,
    byHand: true,
  },
  INVALID_CONFIG: {
    text: 'The config of {place} is not valid:{issues}\nGive it values that its config schema accepts.',
    meaning: "A node's config does not fit the config schema of its stage.",
    retried: false,
    byHand: true,
  },
} as const satisfies Record<string, ErrorCodeEntry>;
