import { Module, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ClsModule } from 'nestjs-cls';
import { Stage, WorkflowModule, type StageContext } from 'nestjs-workflow-engine';
import { DataSource } from 'typeorm';
import { z } from 'zod';

export const ORDERS_TABLE = 'CREATE TABLE orders (run text NOT NULL)';

const order = { input: z.any(), output: z.null() };

/** What is done once both have agreed. */
@Stage({ id: 'acme.order', ...order })
export class Order {
  constructor(private readonly host: DataSource) {}

  async execute(ctx: StageContext<typeof order>) {
    await this.host.query('INSERT INTO orders (run) VALUES ($1)', [ctx.run.id]);
    return null;
  }
}

/** Two have to agree. */
export const PURCHASE = {
  id: 'purchase',
  nodes: [
    { id: 'sign', type: 'approval', config: { approvers: ['bob', 'cleo'], rule: 'all' } },
    { id: 'order', type: 'acme.order' },
    { id: 'done', type: 'end' },
    { id: 'refused', type: 'end' },
  ],
  edges: [
    { from: 'sign', outcome: 'approved', to: 'order' },
    { from: 'sign', outcome: 'rejected', to: 'refused' },
    { from: 'order', to: 'done' },
  ],
};

/** A worker whose leases are short: whoever comes after a dead one need not wait for long. */
export function approvalModule(url: string): Type {
  @Module({
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', url, retryAttempts: 0 }),
      ClsModule.forRoot({ global: true }),
      WorkflowModule.forRoot({
        worker: { concurrency: 2, pollInterval: 100 },
        wake: { every: 100 },
        lease: { heartbeatInterval: 100, staleThreshold: 1_000, maxLosses: 1_000 },
      }),
    ],
    providers: [Order],
  })
  class ApprovalModule {}
  return ApprovalModule;
}
