import { Injectable } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { Stage, Workflow, WorkflowService, type Flow, type RunHandle, type StageContext } from 'nestjs-workflow-engine';
import type { WorkflowModuleOptions } from 'nestjs-workflow-engine';
import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import { findPgbouncer, startPooler, type Pooler } from '../../support/pgbouncer.js';
import { buildGuardedApp, inRequestOf, type Form } from './guarded-app.js';
import { guardedDatabase, PASSWORD, type GuardedDatabase } from './guarded-database.js';

const input = z.object({ nr: z.number() });

@Injectable()
class Seen {
  readonly effects: string[] = [];
  readonly undone: number[] = [];
}

@Stage({ id: 'pooled', input, retry: { maxAttempts: 1 } })
class Pooled {
  constructor(private readonly seen: Seen) {}

  async execute(ctx: StageContext<{ input: typeof input }>): Promise<string> {
    const { nr } = ctx.input;
    const effect = (what: string): void => void this.seen.effects.push(`${what} ${ctx.run.id}`);
    await ctx.step.run('before', () => effect('before'));
    const owner = await ctx.transaction('own', async (manager: EntityManager) => {
      const [row] = (await manager.query(`SELECT current_setting('app.owner_id') AS owner`)) as { owner: string }[];
      return row!.owner;
    });
    await ctx.step.sleep('a moment', 5);
    const signed = await ctx.step.waitForSignal('signed', { schema: z.string() });
    await ctx.step.run('after', () => effect('after'));
    return `${owner} ${nr} ${signed}`;
  }

  async cancel(ctx: StageContext<{ input: typeof input }>): Promise<void> {
    this.seen.undone.push(ctx.input.nr);
  }
}

@Workflow({ id: 'pooling', version: 1, input })
class Pooling {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Pooled);
  }
}

const OWNERS = ['acme', 'other'];
const program = findPgbouncer();
const missing = 'There is no pgbouncer: install the package, or name the program in PGBOUNCER';

if (program === undefined) {
  describe('through PgBouncer', () => {
    // Named, it must be there; else whoever has none is told so, and held up by nothing.
    const absent = process.env.PGBOUNCER ? it : it.skip;
    absent(`JOB-4, OWNER-4: ${missing}`, () => {
      throw new Error(missing);
    });
  });
} else {
  describe.each<Form>(['switching', 'login'])('through PgBouncer in transaction mode, %s', (form) => {
    let database: GuardedDatabase;
    let pooler: Pooler;

    beforeAll(async () => {
      database = await guardedDatabase(form);
      const users = { [database.app]: PASSWORD, [database.engine]: PASSWORD };
      pooler = await startPooler(program, { users, poolSize: 5 });
    });

    afterAll(async () => {
      await pooler.stop();
      await database.dropAll();
    });

    async function pooledApp(worker: WorkflowModuleOptions['worker']): Promise<TestingModule> {
      const urlOf = (role: string): string => pooler.through(database.urlOf(role));
      const app = await buildGuardedApp({ ...database, urlOf }, form, { worker }, [Seen, Pooled, Pooling]);
      await app.init();
      return app;
    }

    it('JOB-4, OWNER-4: starts, suspensions, resumptions and cancels of two owners, 50 stages at once on 5 connections', async () => {
      const app = await pooledApp({ concurrency: 50, notify: false, pollInterval: '100ms' });
      const workflows = app.get(WorkflowService);
      const seen = app.get(Seen);
      const run = async (nr: number): Promise<{ nr: number; owner: string; run: RunHandle<unknown> }> => {
        const owner = OWNERS[nr % 2]!;
        return inRequestOf(owner, async () => {
          const started = await workflows.start(Pooling, { nr }, { idempotencyKey: `${nr}` });
          expect((await workflows.start(Pooling, { nr }, { idempotencyKey: `${nr}` })).run.id).toBe(started.run.id);
          if (nr % 5 === 0) await workflows.cancel(started.run, 'every fifth');
          else await workflows.signal(started.run, 'signed', `by ${owner}`, { messageId: `${nr}` });
          return { nr, owner, run: started.run };
        });
      };
      const runs = await Promise.all(Array.from({ length: 100 }, (_, nr) => run(nr)));
      for (const { nr, owner, run: handle } of runs) {
        const result = inRequestOf(owner, () => workflows.result(handle));
        if (nr % 5 === 0) await expect(result).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
        else expect(await result).toBe(`${owner} ${nr} by ${owner}`);
      }
      const done = runs.filter(({ nr }) => nr % 5 !== 0).map(({ run: { id } }) => id);
      for (const what of ['before', 'after']) {
        const effects = seen.effects.filter((effect) => effect.startsWith(what));
        // Nothing twice; what was cancelled may have come to its first effect.
        expect(new Set(effects).size).toBe(effects.length);
        expect(effects).toEqual(expect.arrayContaining(done.map((id) => `${what} ${id}`)));
      }
      const admin = database.openPool({ max: 1 });
      const left = `SELECT (SELECT count(*)::int FROM workflow_stage_runs WHERE status IN ('PENDING', 'RUNNING', 'SUSPENDED')) AS stages,
        (SELECT count(*)::int FROM workflow_attempts) AS failed, (SELECT count(*)::int FROM workflow_jobs WHERE kind = 0) AS jobs,
        (SELECT count(*)::int FROM workflow_steps WHERE open) AS waits`;
      expect((await admin.query(left)).rows).toEqual([{ stages: 0, failed: 0, jobs: 0, waits: 0 }]);
      await admin.end();
      expect(pooler.log).toContain(database.app);
      expect(pooler.log).not.toMatch(/prepared statement/i);
      await app.close();
    });

    it('JOB-4: with a URL for LISTEN straight to the server an idle worker hears of work at once', async () => {
      const worker = await pooledApp({ pollInterval: '1h', listenUrl: database.urlOf(database.app) });
      const starter = await pooledApp(false);
      const workflows = starter.get(WorkflowService);
      const { run } = await inRequestOf('acme', () => workflows.start(Pooling, { nr: 1 }));
      await inRequestOf('acme', () => workflows.signal(run, 'signed', 'x'));
      expect(await inRequestOf('acme', () => workflows.result(run))).toBe('acme 1 x');
      await starter.close();
      await worker.close();
    });
  });
}
