export type { BodyContext } from './body-plan.js';
export { Replay } from './replay.js';
export type { AttemptWrite, ReplayHost, ReplayStop, StepJournal, Suspension } from './replay-host.js';
export { Steps } from './step-api.js';
export type { ChildRequest, StepServices } from './step-api.js';
export { noWait } from './wait-plan.js';
export { COMPLETION_KEY, LEASE_KEY, stepName } from './step-key.js';
