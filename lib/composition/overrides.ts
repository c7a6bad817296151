import type { StepCrashes } from '../runtime/steps/step-crashes.js';
import type { OpenStorage } from './engine-storage.js';

/**
 * What a test puts in place of parts of the engine.
 *
 * @internal
 */
export interface WorkflowOverrides {
  /** Opens another store than the PostgreSQL one. */
  readonly openStorage?: OpenStorage;
  /** `false`: nothing runs by itself, neither worker nor wake pass nor relay; the test drives them. @default true */
  readonly background?: boolean;
  /** Where attempts are to die. */
  readonly crashes?: StepCrashes;
}

export const WORKFLOW_OVERRIDES = Symbol.for('nestjs-workflow-engine:overrides');
