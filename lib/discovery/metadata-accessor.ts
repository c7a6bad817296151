import 'reflect-metadata';
import type { WorkflowEventType } from '../interfaces/workflow-event.js';
import {
  METADATA_PREFIX,
  ON_WORKFLOW_EVENT_METADATA,
  STAGE_METADATA,
  WORKFLOW_METADATA,
  WORKFLOW_POLICY_METADATA,
  WORKFLOW_SUBJECT_METADATA,
} from '../workflow.constants.js';

/** What a decorator was given. Unchecked: the compiler checks it. */
export type DecoratorOptions = Readonly<Record<string, unknown>>;

/** Reads what the decorators wrote; a subclass that is not decorated itself reads as the class it extends. */
export const MetadataAccessor = {
  stage: (type: Function): DecoratorOptions | undefined => Reflect.getMetadata(STAGE_METADATA, type),

  workflow: (type: Function): DecoratorOptions | undefined => Reflect.getMetadata(WORKFLOW_METADATA, type),

  policy: (type: Function): DecoratorOptions | undefined => Reflect.getMetadata(WORKFLOW_POLICY_METADATA, type),

  subject: (type: Function): DecoratorOptions | undefined => Reflect.getMetadata(WORKFLOW_SUBJECT_METADATA, type),

  eventTypes: (method: Function): readonly WorkflowEventType[] | undefined =>
    Reflect.getOwnMetadata(ON_WORKFLOW_EVENT_METADATA, method),

  /** Keys that neither we nor Nest nor TypeScript wrote. */
  foreignKeys(type: Function): string[] {
    const names = Reflect.getMetadataKeys(type).map((key: unknown) =>
      typeof key === 'symbol' ? (key.description ?? '') : String(key),
    );
    return names.filter((name) => !name.startsWith(METADATA_PREFIX) && !name.startsWith('design:'));
  },
};
