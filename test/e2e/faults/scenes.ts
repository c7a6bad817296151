import type { INestApplicationContext, Type } from '@nestjs/common';
import { z } from 'zod';
import {
  Stage,
  Workflow,
  WorkflowService,
  type StageContext,
  type StageOptions,
  type WorkflowOptions,
} from 'nestjs-workflow-engine';
import { filter, firstValueFrom } from 'rxjs';

export type StageBody = (ctx: StageContext<any>) => unknown;
type Any = any;

/** A stage class around a function. Its types are left to the compiler's tests (`test/types`). */
export function stageOf(
  id: string,
  execute: StageBody,
  options: Partial<StageOptions> & { cancel?: StageBody } = {},
): Type<Any> {
  const { cancel, ...rest } = options;
  class Body {
    execute(ctx: StageContext<any>): unknown {
      return execute(ctx);
    }
  }
  if (cancel) Object.assign(Body.prototype, { cancel });
  (Stage({ id, ...rest }) as Any)(Body);
  return Body;
}

/** Stages one after another; an object of them stands side by side. */
export type Node = Type<Any> | Record<string, Type<Any>>;

/** A workflow class of these nodes. */
export function flowOf(id: string, nodes: readonly Node[], options: Partial<WorkflowOptions<z.ZodType>> = {}): Any {
  class Pipeline {
    define(flow: Any): unknown {
      return nodes.reduce<Any>(
        (built, node) => (typeof node === 'function' ? built.pipe(node) : built.parallel(node)),
        flow,
      );
    }
  }
  (Workflow({ id, version: 1, input: z.unknown(), ...options }) as Any)(Pipeline);
  return Pipeline;
}

/** Its policy: tries without a pause. */
export const AT_ONCE = { maxAttempts: 3, backoff: ['1ms'], jitter: 0 } as const;

/** Resolves with the next event of a type that this process relays for a run. Subscribe before it can happen. */
export function told(app: INestApplicationContext, type: string, runId?: string): Promise<Any> {
  const events = app.get(WorkflowService).asOperator().events();
  return firstValueFrom(events.pipe(filter((event) => event.type === type && (!runId || event.run.id === runId))));
}
