import type { INestApplication, LogLevel } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { DefinitionsService } from 'nestjs-workflow-engine';
import { WorkflowTester } from 'nestjs-workflow-engine/testing';
import { Webhook } from 'standardwebhooks';
import { AppModule, BANK_SECRET } from '../app/app.module.js';
import { ErrorFilter } from '../app/error.filter.js';
import { Bank } from '../workflow/bank.service.js';
import { Messenger } from '../workflow/leads.js';
import { Client, type Answer } from './client.js';

const LOGGED: LogLevel[] = ['warn', 'error', 'fatal'];

/** The whole app, answering over HTTP, on a clock that is moved by hand. */
export class ExpenseApp {
  private constructor(
    private readonly tester: WorkflowTester,
    readonly url: string,
  ) {}

  /** @param server to make a database on. @default DATABASE_URL, else one that is started for it */
  static async open(server?: string): Promise<ExpenseApp> {
    let http!: INestApplication;
    const tester = await WorkflowTester.create({
      ...(server !== undefined && { server }),
      imports: ({ url }) => [AppModule.register(url)],
      createApp: (module) => {
        // Signatures are of the bytes that came.
        http = module.createNestApplication({ rawBody: true, logger: LOGGED });
        http.useGlobalFilters(new ErrorFilter(http.get(HttpAdapterHost).httpAdapter));
        return http;
      },
    });
    try {
      await http.listen(0, '127.0.0.1');
      return new ExpenseApp(tester, await http.getUrl());
    } catch (error) {
      await tester.close();
      throw error;
    }
  }

  as(member: string): Client {
    return new Client(this.url, member);
  }

  /** What was told to people, and what the bank was asked for. */
  get told(): readonly string[] {
    return this.tester.app.get(Messenger).sent;
  }

  get orders(): number[] {
    return [...this.tester.app.get(Bank).orders.values()].map(({ amount }) => amount);
  }

  /** The bank tells, signed, that it has booked what was paid for an expense. */
  async bankBooks(expense: string, receipt: string, secret = BANK_SECRET): Promise<Answer<unknown>> {
    const [bank] = await this.tester.app.get(DefinitionsService).triggers('bank-statement');
    const body = JSON.stringify({ expense, receipt });
    const at = await this.tester.now();
    const id = `statement-${receipt}`;
    const response = await fetch(`${this.url}/workflow-hooks/${bank!.hook}`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(secret).sign(id, at, body),
      },
    });
    await this.settle();
    return { status: response.status, body: await response.json() };
  }

  /** Lets happen what is due now. */
  async settle(): Promise<void> {
    await this.tester.drain();
  }

  /** Lets time pass; whatever comes due on the way happens at its own instant. */
  async travel(duration: `${number} days`): Promise<void> {
    await this.tester.travel(duration);
  }

  async close(): Promise<void> {
    await this.tester.close();
  }
}
