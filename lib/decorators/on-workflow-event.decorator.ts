import 'reflect-metadata';
import type { WorkflowEvent, WorkflowEventType } from '../interfaces/workflow-event.js';
import { ON_WORKFLOW_EVENT_METADATA } from '../workflow.constants.js';

/**
 * Calls a provider's method with every event of these types, after commit, at least once, in order per run. A method that
 * throws or rejects is tried again (`outbox`), and after that the event is kept as a dead letter.
 *
 * @example
 * ```ts
 * @OnWorkflowEvent('run:failed')
 * async alert({ run, data }: WorkflowEvent<'run:failed'>) { await this.pager.page(`${run.id}: ${data.code}`); }
 * ```
 *
 * @publicApi
 */
export function OnWorkflowEvent<const T extends WorkflowEventType>(type: T | readonly T[]) {
  return <F extends (event: WorkflowEvent<T>) => unknown>(
    _target: object,
    _name: string | symbol,
    descriptor: TypedPropertyDescriptor<F>,
  ): void => {
    const method = descriptor.value as F;
    const types: readonly WorkflowEventType[] = typeof type === 'string' ? [type] : (type as readonly T[]);
    const earlier = (Reflect.getOwnMetadata(ON_WORKFLOW_EVENT_METADATA, method) ?? []) as readonly WorkflowEventType[];
    Reflect.defineMetadata(ON_WORKFLOW_EVENT_METADATA, [...new Set([...types, ...earlier])], method);
  };
}
