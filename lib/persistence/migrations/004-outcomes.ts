import type { WorkflowMigration } from './workflow-migration.js';

/** Nodes of a graph may end in more ways than one: which way a stage run went. */
export const OUTCOMES: WorkflowMigration = {
  version: 4,
  name: 'outcomes',
  timestamp: 1772323200000,
  statements: ({ stageRuns }) => [`ALTER TABLE ${stageRuns} ADD COLUMN outcome text`],
};
