import { type DynamicModule, type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ClsModule } from 'nestjs-cls';
import { WorkflowModule, WorkflowWebhooksModule } from 'nestjs-workflow-engine';
import { ApprovalsController } from '../expenses/approvals.controller.js';
import { Expense, ExpenseMove } from '../expenses/expense.entity.js';
import { ExpensesController } from '../expenses/expenses.controller.js';
import { Expenses } from '../expenses/expenses.service.js';
import { Bank } from '../workflow/bank.service.js';
import { GraphsController } from '../workflow/graphs.controller.js';
import { Leads, Messenger } from '../workflow/leads.js';
import { Pay } from '../workflow/pay.stage.js';
import { SignIn } from './sign-in.middleware.js';

/** What the bank signs its messages with. Yours comes from where you keep secrets. */
export const BANK_SECRET = `whsec_${Buffer.from('the secret of the bank, 32 bytes').toString('base64')}`;

@Module({})
export class AppModule implements NestModule {
  static register(databaseUrl: string): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ClsModule.forRoot({ global: true, middleware: { mount: true } }),
        TypeOrmModule.forRoot({
          type: 'postgres',
          url: databaseUrl,
          entities: [Expense, ExpenseMove],
          // The app's own tables only; the engine's come by its migrations.
          synchronize: true,
        }),
        WorkflowModule.forRoot({
          migrations: 'run',
          approvals: { resolvers: { leads: Leads } },
          shutdownGrace: '5s',
        }),
        WorkflowWebhooksModule.forRoot({ secrets: () => BANK_SECRET }),
      ],
      controllers: [ExpensesController, ApprovalsController, GraphsController],
      providers: [Expenses, Bank, Leads, Messenger, Pay],
    };
  }

  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(SignIn).forRoutes(ExpensesController, ApprovalsController, GraphsController);
  }
}
