import { type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createDatabase, dropDatabase, openTestServer, type TestServer } from 'nestjs-workflow-engine/testing';
import { AppModule } from './app/app.module.js';
import { setUpHttp } from './app/set-up-http.js';

/** The app as it would run for real: its worker and its wake pass move by themselves, on the real clock. */
export class Server {
  private server: TestServer | undefined;
  private databaseUrl: string | undefined;
  private app: INestApplication | undefined;
  private starting: Promise<string> | undefined;
  private stopping: Promise<void> | undefined;

  /** Resolves with the address once it answers. */
  start(port: number): Promise<string> {
    this.starting ??= this.open(port);
    return this.starting;
  }

  /** Ends in order, the database last. */
  stop(): Promise<void> {
    this.stopping ??= this.close();
    return this.stopping;
  }

  private async open(port: number): Promise<string> {
    this.server = await openTestServer();
    this.databaseUrl = await createDatabase(this.server.url());
    const module = AppModule.register({ databaseUrl: this.databaseUrl, lostAnswers: 0 });
    this.app = setUpHttp(await NestFactory.create(module, { logger: ['log', 'warn', 'error', 'fatal'] }));
    await this.app.listen(port, '127.0.0.1');
    return this.app.getUrl();
  }

  private async close(): Promise<void> {
    // What is half open can't be closed.
    await this.starting?.catch(() => undefined);
    await this.app?.close();
    if (this.server && this.databaseUrl)
      await dropDatabase(this.server.url(), new URL(this.databaseUrl).pathname.slice(1));
    await this.server?.stop();
  }
}
