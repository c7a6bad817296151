export type { DryFailure, DryGiven, DryHost, DryStage, DryWorld } from './dry-given.js';
export { dryRunGraph } from './dry-graph.js';
export { dryRunPipeline } from './dry-pipeline.js';
export type { DryProblem, DryRun, DryStep } from './dry-run.js';
export { dryRunProblems } from './dry-run-problems.js';
export { readsOf } from './reads-of.js';
