import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Stage, Workflow, WorkflowModule, type Flow, type StageContext } from 'nestjs-workflow-engine';
import type { EntityManager } from 'typeorm';
import { z } from 'zod';
import { announce } from '../support/process-side.js';

export const BOOKINGS_TABLE = 'CREATE TABLE bookings (run text NOT NULL, name text NOT NULL)';
export const TRANSACTIONS_PER_RUN = 12;

let left = Infinity;

/** So many points may be passed in this process; who comes to the next one stands still. */
export function allowPoints(count: number): void {
  left = count;
}

async function pass(): Promise<void> {
  if (left-- <= 0) await new Promise(() => undefined);
  void announce('point');
}

/** Tells where it is before and after it writes: somewhere behind such a point its process dies. */
@Stage({ id: 'book' })
class Book {
  async execute(ctx: StageContext): Promise<number> {
    let sum = 0;
    for (let nr = 1; nr <= TRANSACTIONS_PER_RUN; nr++) {
      sum += await ctx.transaction(`book ${nr}`, async (manager: EntityManager) => {
        await pass();
        await manager.query('INSERT INTO bookings (run, name) VALUES ($1, $2)', [ctx.run.id, `book ${nr}#1`]);
        await pass();
        return nr;
      });
      await pass();
    }
    return sum;
  }
}

const input = z.null();

@Workflow({ id: 'booking', version: 1, input })
export class BookingFlow {
  define(flow: Flow<typeof input>) {
    return flow.pipe(Book);
  }
}

export function bookingModule(url: string) {
  @Module({
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', url, poolSize: 4 }),
      WorkflowModule.forRoot({
        worker: { concurrency: 4, pollInterval: 100 },
        wake: { every: 100 },
        lease: { heartbeatInterval: 100, staleThreshold: 1_000, maxLosses: 1_000 },
        retry: { backoff: ['50ms'] },
      }),
    ],
    providers: [Book, BookingFlow],
  })
  class BookingModule {}
  return BookingModule;
}
