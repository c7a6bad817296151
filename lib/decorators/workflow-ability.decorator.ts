import 'reflect-metadata';
import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import { WORKFLOW_ABILITY_METADATA } from '../workflow.constants.js';

export interface WorkflowAbilityOptions {
  /** The route's parameter that names a run: `'id'` of `/runs/:id/cancel`. @default the route is about no run */
  readonly run?: string;
}

/**
 * Names the ability that `WorkflowGuard` asks about before a controller's method, or any method of a controller, is called. The
 * method's own goes before the controller's. It guards nothing by itself: `@UseGuards(WorkflowGuard)`, or the guard as `APP_GUARD`, does.
 *
 * @example
 * ```ts
 * @Post(':id/cancel')
 * @UseGuards(WorkflowGuard)
 * @WorkflowAbility('runs.cancel', { run: 'id' })
 * cancel(@Param('id') id: string) { return this.workflows.cancel(id); }
 * ```
 *
 * @publicApi
 */
export function WorkflowAbility(ability: string, options: WorkflowAbilityOptions = {}): CustomDecorator {
  return SetMetadata(WORKFLOW_ABILITY_METADATA, { ability, run: options.run });
}
