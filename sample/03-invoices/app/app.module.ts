import { type DynamicModule, type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { ClsModule } from 'nestjs-cls';
import { WorkflowModule } from 'nestjs-workflow-engine';
import type { DataSource } from 'typeorm';
import { Booking, Invoice } from '../invoices/invoice.entity.js';
import { AuditController, InvoicesController } from '../invoices/invoices.controller.js';
import { Invoices } from '../invoices/invoices.service.js';
import { Member } from '../teams/member.entity.js';
import { SignIn } from '../teams/sign-in.middleware.js';
import { TeamAuthorizer } from '../teams/team.authorizer.js';
import { TeamTransactions } from '../teams/team-transactions.js';
import { Team } from '../teams/team.entity.js';
import { BookInvoice } from '../workflow/book-invoice.stage.js';
import { CheckInvoice } from '../workflow/check-invoice.stage.js';
import { InvoiceRun } from '../workflow/invoice.workflow.js';
import { Post } from '../workflow/post.service.js';
import { SendInvoice } from '../workflow/send-invoice.stage.js';
import { Tables1764000000000 } from './tables.js';

const STAGES = [CheckInvoice, SendInvoice, BookInvoice];

@Module({})
export class AppModule implements NestModule {
  /** @param databaseUrl of a role that is no superuser: the database holds nobody apart for one */
  static register(databaseUrl: string): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ClsModule.forRoot({ global: true, middleware: { mount: true } }),
        TypeOrmModule.forRoot({
          type: 'postgres',
          url: databaseUrl,
          entities: [Team, Member, Invoice, Booking],
          migrations: [Tables1764000000000],
          migrationsRun: true,
        }),
        WorkflowModule.forRootAsync({
          inject: [getDataSourceToken()],
          useFactory: (dataSource: DataSource) => ({
            // Tables, policies and roles, at boot. Where the app may not make them: see docs/multi-tenancy.md, step by step.
            migrations: 'run' as const,
            owners: {
              resolve: (cls) => cls.get('teamId') as string,
              load: (id) => dataSource.manager.findOneBy(Team, { id }),
              rowLevelSecurity: true,
            },
            authorization: { authorizer: TeamAuthorizer },
            shutdownGrace: '5s',
          }),
        }),
      ],
      controllers: [InvoicesController, AuditController],
      providers: [Invoices, TeamTransactions, TeamAuthorizer, Post, InvoiceRun, ...STAGES],
    };
  }

  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(SignIn).forRoutes(InvoicesController, AuditController);
  }
}
