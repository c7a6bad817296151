import type { INestApplication } from '@nestjs/common';
import { HttpAdapterHost, NestFactory } from '@nestjs/core';
import { AppModule } from '../app/app.module.js';
import { ErrorFilter } from '../app/error.filter.js';
import { Client } from './client.js';
import { TeamDatabase } from './team-database.js';

const PEOPLE = [
  `INSERT INTO teams (id, name) VALUES ('north', 'Team North'), ('south', 'Team South')`,
  `INSERT INTO members (id, "teamId", name, role) VALUES ('nora', 'north', 'Nora', 'lead'), ('cleo', 'north', 'Cleo', 'clerk'), ('sven', 'south', 'Sven', 'lead')`,
];

/** The whole app with its two teams, answering over HTTP. */
export class InvoiceApp {
  private constructor(
    readonly database: TeamDatabase,
    private readonly app: INestApplication,
    private readonly url: string,
  ) {}

  static async open(serverUrl?: string): Promise<InvoiceApp> {
    const database = await TeamDatabase.open(serverUrl);
    try {
      const app = await NestFactory.create(AppModule.register(database.url), { logger: ['warn', 'error', 'fatal'] });
      app.useGlobalFilters(new ErrorFilter(app.get(HttpAdapterHost).httpAdapter));
      await app.listen(0, '127.0.0.1');
      await database.admin(...PEOPLE);
      return new InvoiceApp(database, app, await app.getUrl());
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  as(member: 'nora' | 'cleo' | 'sven'): Client {
    return new Client(this.url, member);
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.database.close();
  }
}
