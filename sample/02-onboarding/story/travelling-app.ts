import type { INestApplication, LogLevel } from '@nestjs/common';
import { WorkflowTester } from 'nestjs-workflow-engine/testing';
import { AppModule } from '../app/app.module.js';
import { setUpHttp } from '../app/set-up-http.js';

export interface TravellingAppOptions {
  /** Server to make a database on. @default DATABASE_URL, else one that is started for it */
  readonly server?: string;
  /** @default 0, a free one */
  readonly port?: number;
  /** @default 0 */
  readonly lostAnswers?: number;
}

const LOGGED: LogLevel[] = ['warn', 'error', 'fatal'];

/** The whole app, answering over HTTP, on a clock that is moved by hand. */
export class TravellingApp {
  private travelledMs = 0;

  private constructor(
    private readonly tester: WorkflowTester,
    readonly url: string,
  ) {}

  static async open({ server, port = 0, lostAnswers = 0 }: TravellingAppOptions = {}): Promise<TravellingApp> {
    let http!: INestApplication;
    const tester = await WorkflowTester.create({
      ...(server !== undefined && { server }),
      imports: ({ url }) => [AppModule.register({ databaseUrl: url, lostAnswers })],
      createApp: (module) => (http = setUpHttp(module.createNestApplication({ logger: LOGGED }))),
    });
    try {
      await http.listen(port, '127.0.0.1');
      return new TravellingApp(tester, await http.getUrl());
    } catch (error) {
      await tester.close();
      throw error;
    }
  }

  /** What the moved clock shows, in milliseconds since 1970. */
  get now(): number {
    return Date.now() + this.travelledMs;
  }

  /** Lets time pass; whatever comes due on the way happens at its own instant. */
  async travel(ms: number): Promise<void> {
    this.travelledMs += ms;
    await this.tester.travel(ms);
  }

  /** Lets happen what is due now. */
  async settle(): Promise<void> {
    await this.tester.drain();
  }

  async close(): Promise<void> {
    // Closes the app, and with it the server.
    await this.tester.close();
  }
}
