import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import {
  Stage,
  Workflow,
  WorkflowModule,
  type Flow,
  type StageContext,
  type StepBodyContext,
  type WorkflowModuleOptions,
} from 'nestjs-workflow-engine';
import { z } from 'zod';
import { CrashPoint } from './crash-points.js';

/** Each execution of a step's body is a row of the first table; each effect stands once in the second, under its key. */
export const CRASH_TABLES = [
  'CREATE TABLE bodies (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, step text NOT NULL, attempt int NOT NULL, pid int NOT NULL)',
  'CREATE TABLE effects (idempotency_key text PRIMARY KEY, step text NOT NULL)',
];

/** The ledger of a run that nothing happened to, in its order; how often each body ran; what came out. */
export const LEDGER = ['order', 'charge', 'pause', 'stock', 'approval', 'label', 'invoice', 'mail'];
export const BODIES = { order: 1, charge: 1, stock: 2, label: 1, invoice: 1, mail: 1 };
export const RESULT = { mail: 'order>charge>stock>yes>label>invoice>mail', charge: 'order>charge' };

/** How long a process that stands still keeps its job. No test waits for it: who comes later has a later clock. */
export const JOB_LEASE_MS = 60_000;
/** Longer than the job's: whoever takes over meets a body that may still be at it. */
const LEASE = { leaseFor: JOB_LEASE_MS + 500 } as const;

/** Six steps, of which one fails the first time and one must never happen twice, and two waits. */
@Stage({ id: 'trip' })
class Trip {
  constructor(
    private readonly dataSource: DataSource,
    private readonly points: CrashPoint,
  ) {}

  async execute(ctx: StageContext): Promise<typeof RESULT> {
    const { step } = ctx;
    const order = await step.run('order', this.#body('order', ''), LEASE);
    await ctx.local(() => this.points.pass('between order and charge'));
    const charge = await ctx.once('charge', this.#body('charge', order));
    await step.sleep('pause', '150ms');
    await ctx.local(() => this.points.pass('behind pause'));
    const retry = { maxAttempts: 4, backoff: ['20ms'], jitter: 0 };
    const stock = await step.run('stock', this.#body('stock', charge, 1), { ...LEASE, retry });
    const approval = await step.waitForSignal('approval', { schema: z.string() });
    const label = await step.run('label', this.#body('label', `${stock}>${approval}`), LEASE);
    const invoice = await step.run('invoice', this.#body('invoice', label), LEASE);
    return { mail: await step.run('mail', this.#body('mail', invoice), LEASE), charge };
  }

  /** Makes its effect under its key, then fails as often as it is to, else gives what it was given and its own name. */
  #body(name: string, given: string, failures = 0) {
    return async ({ attempt, idempotencyKey }: StepBodyContext): Promise<string> => {
      await this.points.pass(`enter ${name}`);
      const values = [name, attempt, process.pid];
      await this.dataSource.query('INSERT INTO bodies (step, attempt, pid) VALUES ($1, $2, $3)', values);
      const effect = 'INSERT INTO effects (idempotency_key, step) VALUES ($1, $2) ON CONFLICT DO NOTHING';
      await this.dataSource.query(effect, [idempotencyKey, name]);
      await this.points.pass(`inside ${name}`);
      if (attempt <= failures) throw new Error(`${name} is not there yet`);
      return given === '' ? name : `${given}>${name}`;
    };
  }
}

const input = z.null();

@Workflow({ id: 'crash', version: 1, input })
export class CrashFlow {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Trip);
  }
}

export function crashModule(url: string, points: CrashPoint, options: WorkflowModuleOptions) {
  @Module({
    imports: [TypeOrmModule.forRoot({ type: 'postgres', url, poolSize: 2 }), WorkflowModule.forRoot(options)],
    providers: [{ provide: CrashPoint, useValue: points }, Trip, CrashFlow],
  })
  class CrashModule {}
  return CrashModule;
}
