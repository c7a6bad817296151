import { Module } from '@nestjs/common';
import { ClsModule } from 'nestjs-cls';
import { ClsScope } from './cls-scope.service.js';
import { WorkflowContext } from './workflow-context.service.js';

/**
 * Imports the bare `ClsModule` class only: `forRoot` is the host's, who may mount it or not (MOD-1).
 *
 * @internal
 */
@Module({ imports: [ClsModule], providers: [ClsScope, WorkflowContext], exports: [ClsScope, WorkflowContext] })
export class ContextModule {}
