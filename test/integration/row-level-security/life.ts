import { Injectable } from '@nestjs/common';
import {
  Stage,
  Workflow,
  WorkflowContext,
  WorkflowService,
  type Flow,
  type StageContext,
} from 'nestjs-workflow-engine';
import type { EntityManager } from 'typeorm';
import { z } from 'zod';

/** What the stages did, and what they are told to do. */
@Injectable()
export class World {
  readonly did: string[] = [];
  /** Owners whose last stage fails for good. */
  readonly broken = new Set<string>();
  readonly undone: string[] = [];
  private readonly tried = new Set<string>();

  first(what: string): boolean {
    if (this.tried.has(what)) return false;
    this.tried.add(what);
    return true;
  }
}

const input = z.object({ name: z.string() });
type Input = { input: typeof input };
const retry = { maxAttempts: 2, backoff: [10] };

@Stage({ id: 'measure', input, retry })
class Measure {
  constructor(private readonly world: World) {}

  async execute(ctx: StageContext<Input>): Promise<string> {
    const { name } = ctx.input;
    const length = await ctx.step.run('length', () => name.length);
    await ctx.step.sleep('a moment', 10);
    ctx.annotate('length', length);
    ctx.log(`measured ${name}`);
    if (this.world.first(ctx.run.id)) throw new Error('not the first time');
    return `${name}:${length}`;
  }
}

/** Writes to a table of the host's that has a policy of its own. */
@Stage({ id: 'note', input })
class Note {
  async execute(ctx: StageContext<Input>): Promise<string[]> {
    ctx.recordWith((manager: EntityManager) =>
      manager.query(`INSERT INTO notes (owner_id, text) VALUES (current_setting('app.owner_id'), 'recorded')`),
    );
    return ctx.transaction('note', async (manager: EntityManager) => {
      await manager.query(`INSERT INTO notes (owner_id, text) VALUES (current_setting('app.owner_id'), $1)`, [
        ctx.input.name,
      ]);
      const rows = (await manager.query('SELECT DISTINCT owner_id FROM notes')) as { owner_id: string }[];
      return rows.map(({ owner_id }) => owner_id);
    });
  }
}

@Stage({ id: 'agree' })
class Agree {
  constructor(
    private readonly world: World,
    private readonly context: WorkflowContext,
    private readonly workflows: WorkflowService,
  ) {}

  async execute(ctx: StageContext): Promise<string> {
    const owner = this.context.currentOwnerId();
    const going = await ctx.step.waitForEvent('go', { key: 'go', schema: z.string() });
    const signed = await ctx.step.waitForSignal('signed', { schema: z.string() });
    const effect = await ctx.once('charge', () => {
      this.world.did.push(`charge ${String(owner)}`);
      return 'charged';
    });
    const child = await ctx.step.runWorkflow('child', Child, { name: going });
    await this.workflows.start(Child, { name: 'beside' }, { idempotencyKey: 'beside' });
    return [going, signed, effect, child].join(' ');
  }

  async cancel(): Promise<void> {
    this.world.undone.push(String(this.context.currentOwnerId()));
  }
}

@Stage({ id: 'finish', retry: { maxAttempts: 1 } })
class Finish {
  constructor(
    private readonly world: World,
    private readonly context: WorkflowContext,
  ) {}

  async execute(ctx: StageContext): Promise<unknown> {
    if (this.world.broken.has(String(this.context.currentOwnerId()))) throw new Error('broken');
    return { owner: this.context.currentOwnerId(), agreed: ctx.require('agree') };
  }
}

@Stage({ id: 'answer', input })
class Answer {
  async execute(ctx: StageContext<Input>): Promise<string> {
    return `child of ${ctx.input.name}`;
  }
}

@Workflow({ id: 'child', version: 1, input })
export class Child {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Answer);
  }
}

@Workflow({ id: 'life', version: 1, input })
export class Life {
  define(flow: Flow<typeof input>) {
    return flow.parallel({ measured: Measure, noted: Note }).pipe(Agree).pipe(Finish);
  }
}

@Workflow({ id: 'plain', version: 1, input })
export class Plain {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Measure);
  }
}

export const LIFE = [World, Measure, Note, Agree, Finish, Answer, Child, Life, Plain];
