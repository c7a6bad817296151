import type { INestApplication } from '@nestjs/common';
import { WorkflowError } from 'nestjs-workflow-engine';
import { DataSource } from 'typeorm';
import { createApp } from './app/create-app.js';
import { openDatabase, type SampleDatabase } from './database.js';
import { DocumentLibrary } from './documents/document-library.js';
import { ExtraDocuments } from './documents/extra-documents.js';
import type { ProgressView } from './progress/progress.js';
import { openProgressView } from './progress/open-progress-view.js';
import { renderReport } from './report/report-text.js';
import { summarise } from './report/summary.js';
import { DocumentRuns } from './running/document-runs.service.js';
import { ProgressTracker } from './running/progress-tracker.service.js';
import type { SampleSettings } from './settings.js';

/** How often the progress view is drawn, in milliseconds. */
const DRAW_INTERVAL_MS = 200;

/** Share of attempts of the statistics stage that fail on purpose. */
const HICCUP_RATE = 0.06;

/**
 * The sample from its start to its orderly end: database, app, all documents, report. `stop` may be called at any time
 * and undoes what there is by then: progress, app (which hands running stages back), database.
 */
export class Sample {
  private database: SampleDatabase | undefined;
  private app: INestApplication | undefined;
  private booting: Promise<INestApplication | undefined> | undefined;
  private bootedAt: Date | undefined;
  private view: ProgressView | undefined;
  private drawing: NodeJS.Timeout | undefined;
  private stopping: Promise<void> | undefined;

  constructor(
    private readonly settings: SampleSettings,
    private readonly out: NodeJS.WritableStream & { isTTY?: boolean },
  ) {}

  /** Resolves when every document is done and reported, or when `stop` came first: then with false. */
  async run(): Promise<boolean> {
    this.booting = this.boot();
    const app = await this.booting;
    if (!app) return false;
    const runs = app.get(DocumentRuns);
    const tracker = app.get(ProgressTracker);
    const started = performance.now();
    try {
      const count = await this.startAll(app);
      this.show(tracker);
      await runs.waitForAll();
      const outcomes = await runs.outcomes();
      this.endView(tracker);
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      this.print(`\n${count} documents in ${seconds} s.\n\n${renderReport(summarise(outcomes))}`);
      this.printWhereToLook(await app.getUrl());
      return true;
    } catch (error) {
      // Whoever waits for a result is told so when the app closes.
      if (this.stopping && WorkflowError.is(error) && error.code === 'SHUTTING_DOWN') return false;
      throw error;
    }
  }

  /** Ends in order; PostgreSQL last, for until then stages are still recorded or handed back. */
  stop(): Promise<void> {
    this.stopping ??= this.close();
    return this.stopping;
  }

  private async boot(): Promise<INestApplication | undefined> {
    const { databaseUrl, workingFolder, paceMs, concurrency, port } = this.settings;
    const database = (this.database = await openDatabase(databaseUrl));
    this.print(`Database: ${database.description}`);
    if (this.stopping) return undefined;
    const options = { databaseUrl: database.url, workingFolder, paceMs, concurrency, hiccupRate: HICCUP_RATE };
    const app = (this.app = await createApp(options));
    if (this.stopping) return undefined;
    // Read before `listen`, which starts the worker: it goes on with open runs at once.
    this.bootedAt = await databaseNow(app);
    await app.listen(port, '127.0.0.1');
    this.print(`HTTP: ${await app.getUrl()} (Swagger at /api)`);
    return app;
  }

  private async startAll(app: INestApplication): Promise<number> {
    const library = app.get(DocumentLibrary);
    await app.get(ExtraDocuments).make({ french: library.get('fra').path, english: library.get('eng').path });
    const documents = library.list().slice(-this.settings.limit);
    const { runs, endedBefore } = await app.get(DocumentRuns).startAll(documents, this.settings.batch, this.bootedAt!);
    const earlier = runs.filter(({ created }) => !created).length;
    this.print(
      earlier === 0
        ? `${runs.length} documents to analyse. Ctrl-C at any time; the next start goes on from there.\n`
        : `${earlier} of ${runs.length} documents were begun by an earlier start, which had finished ${endedBefore}. Going on.\n`,
    );
    return runs.length;
  }

  private show(tracker: ProgressTracker): void {
    if (this.stopping) return;
    const view = (this.view = openProgressView(this.out));
    view.show(tracker.tally.progress());
    this.drawing = setInterval(() => view.show(tracker.tally.progress()), DRAW_INTERVAL_MS);
  }

  private endView(tracker?: ProgressTracker): void {
    clearInterval(this.drawing);
    if (tracker) this.view?.show(tracker.tally.progress());
    this.view?.stop();
    this.view = undefined;
  }

  private async close(): Promise<void> {
    // What is half open can't be closed.
    await this.booting?.catch(() => undefined);
    this.endView();
    await this.app?.close();
    await this.database?.stop();
  }

  private printWhereToLook(url: string): void {
    this.print(
      [
        '',
        'Where to look next',
        `  ${url}/api                       try start, status, history, cancel, retry`,
        `  ${url}/runs?status=FAILED        runs that failed`,
        `  ${this.settings.workingFolder}/reports/eng.json   the report of one document`,
        '',
        ...(this.settings.exit ? [] : ['Serving HTTP until Ctrl-C.']),
      ].join('\n'),
    );
  }

  private print(text: string): void {
    this.out.write(`${text}\n`);
  }
}

async function databaseNow(app: INestApplication): Promise<Date> {
  const [row] = await app.get(DataSource).query<{ now: Date }[]>('SELECT now()');
  return row!.now;
}
