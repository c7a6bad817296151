import { INITIAL_TABLES } from './001-initial-tables.js';
import { STEPS_WAITS_EVENTS } from './002-steps-waits-events.js';
import { OWNERS_SUBJECTS_AUDIT } from './003-owners-subjects-audit.js';
import { OUTCOMES } from './004-outcomes.js';
import { GRAPHS } from './005-graphs.js';
import { APPROVALS } from './006-approvals.js';
import { TRIGGERS } from './007-triggers.js';
import type { WorkflowMigration } from './workflow-migration.js';

/** Every step, in order. */
export const MIGRATIONS: readonly WorkflowMigration[] = [
  INITIAL_TABLES,
  STEPS_WAITS_EVENTS,
  OWNERS_SUBJECTS_AUDIT,
  OUTCOMES,
  GRAPHS,
  APPROVALS,
  TRIGGERS,
];
