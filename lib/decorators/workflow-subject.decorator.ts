import 'reflect-metadata';
import type { WorkflowSubjectOptions } from '../interfaces/subject.js';
import { WORKFLOW_SUBJECT_METADATA } from '../workflow.constants.js';

/**
 * Marks a TypeORM entity as what runs may be about. It is found among the entities of the engine's DataSource, loaded by its
 * primary key, and belongs to whoever its `owner` column names.
 *
 * A property that the entity lacks, a type that two entities claim, or a primary key of several columns stops the app at boot.
 *
 * @example
 * ```ts
 * @Entity()
 * @WorkflowSubject({ type: 'expense', owner: 'teamId' })
 * export class Expense { … }
 * ```
 *
 * @publicApi
 */
export function WorkflowSubject<K extends string = never>(options: WorkflowSubjectOptions<K>) {
  // oxlint-disable-next-line typescript/no-explicit-any -- `unknown` would refuse every class with a parameter
  return (target: abstract new (...args: any[]) => { [P in K]?: unknown }): void => {
    Reflect.defineMetadata(WORKFLOW_SUBJECT_METADATA, options, target);
  };
}
