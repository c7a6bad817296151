import type { TestingModule } from '@nestjs/testing';
import {
  Stage,
  Workflow,
  WorkflowService,
  type Flow,
  type StageContext,
  type StageHandler,
  type WorkflowBlueprint,
} from 'nestjs-workflow-engine';
import { DataSource } from 'typeorm';
import { z } from 'zod';
import { freshDatabase } from '../support/database.js';
import { startApp } from './app.js';

const schemas = { input: z.null(), output: z.null() };

@Stage({ id: 'sleeps', ...schemas })
class Sleeps implements StageHandler<typeof schemas> {
  async execute(ctx: StageContext<typeof schemas>) {
    await ctx.step.sleep('nap', '1 day');
    return null;
  }
}

@Workflow({ id: 'child', version: 1, input: schemas.input })
class Child implements WorkflowBlueprint<typeof schemas.input> {
  define(flow: Flow<typeof schemas.input>) {
    return flow.pipe(Sleeps);
  }
}

@Stage({ id: 'waits', ...schemas })
class Waits implements StageHandler<typeof schemas> {
  async execute(ctx: StageContext<typeof schemas>) {
    await ctx.step.runWorkflow('child', Child, null);
    return null;
  }
}

@Workflow({ id: 'parent', version: 1, input: schemas.input })
class Parent implements WorkflowBlueprint<typeof schemas.input> {
  define(flow: Flow<typeof schemas.input>) {
    return flow.pipe(Waits);
  }
}

/** No wake pass finds them: children end since the process is told, or not at all. */
const workflow = { wake: { every: false } } as const;

describe('children of a cancelled run', () => {
  let app: TestingModule;
  let workflows: ReturnType<WorkflowService['asOperator']>;

  beforeAll(async () => {
    app = await startApp({ database: await freshDatabase(), workflow, providers: [Sleeps, Child, Waits, Parent] });
    workflows = app.get(WorkflowService).asOperator();
  });
  afterAll(() => app.close());

  /** A parent that waits for its child, and the child, which nothing but a cancel ends. */
  async function family() {
    const { run } = await app.get(WorkflowService).start(Parent, null);
    for (;;) {
      const { runs } = await workflows.list({ status: 'RUNNING', definition: 'child' });
      if (runs.length > 0) return { parent: run.id, child: runs[0]!.id };
    }
  }

  it('CANCEL-3: are cancelled at once, without a wake pass', async () => {
    const { parent, child } = await family();
    const ended = workflows.result(child, { timeout: '20 s' });
    await workflows.cancel(parent, 'no longer');
    await expect(ended).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
  });

  it('CANCEL-3: also when the cancel is part of a transaction of the host’s', async () => {
    const { parent, child } = await family();
    const ended = workflows.result(child, { timeout: '20 s' });
    await app.get(DataSource).transaction((manager) => workflows.terminate(parent, 'no longer', { manager }));
    await expect(ended).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
  });
});
