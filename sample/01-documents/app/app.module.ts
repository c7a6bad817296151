import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkflowModule } from 'nestjs-workflow-engine';
import { LanguageDetector } from '../analysis/language-detector.js';
import { ScriptDetector } from '../analysis/script-detector.js';
import { DocumentAnalysis } from '../document-analysis.workflow.js';
import { DocumentLibrary } from '../documents/document-library.js';
import { ExtraDocuments } from '../documents/extra-documents.js';
import { WorkingFolder } from '../documents/working-folder.js';
import { Hiccups } from '../faults/hiccups.js';
import { Pace } from '../faults/pace.js';
import { DocumentReader } from '../reading/document-reader.js';
import { DocumentRuns } from '../running/document-runs.service.js';
import { ProgressTracker } from '../running/progress-tracker.service.js';
import { DetectLanguage } from '../stages/detect-language.stage.js';
import { DetectScript } from '../stages/detect-script.stage.js';
import { MeasureText } from '../stages/measure-text.stage.js';
import { ReadDocument } from '../stages/read-document.stage.js';
import { WriteReport } from '../stages/write-report.stage.js';
import { DocumentsController } from './documents.controller.js';
import { ReportController } from './report.controller.js';
import { RunsController } from './runs.controller.js';

export interface AppOptions {
  readonly databaseUrl: string;
  readonly workingFolder: string;
  readonly paceMs: number;
  readonly concurrency: number;
  /** The share of attempts of one stage that fail on purpose. */
  readonly hiccupRate: number;
}

@Module({})
export class AppModule {
  static register(options: AppOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRoot({ type: 'postgres', url: options.databaseUrl, autoLoadEntities: true }),
        WorkflowModule.forRoot({
          migrations: 'run',
          worker: { concurrency: options.concurrency },
          // Short, so that a killed process's stages are taken over while somebody looks on. Productive apps can wait longer.
          lease: { heartbeatInterval: '5s', staleThreshold: '20s' },
          // A stage of this sample takes a second at most, so Ctrl-C need not wait for longer.
          shutdownGrace: '5s',
        }),
      ],
      controllers: [DocumentsController, RunsController, ReportController],
      providers: [
        DocumentAnalysis,
        ReadDocument,
        DetectLanguage,
        DetectScript,
        MeasureText,
        WriteReport,
        DocumentRuns,
        ProgressTracker,
        LanguageDetector,
        ScriptDetector,
        { provide: WorkingFolder, useFactory: () => new WorkingFolder(options.workingFolder) },
        {
          provide: ExtraDocuments,
          inject: [WorkingFolder],
          useFactory: (folder: WorkingFolder) => new ExtraDocuments(folder),
        },
        {
          provide: DocumentReader,
          inject: [WorkingFolder],
          useFactory: (folder: WorkingFolder) => new DocumentReader(folder),
        },
        {
          provide: DocumentLibrary,
          inject: [ExtraDocuments],
          useFactory: (extras: ExtraDocuments) => new DocumentLibrary(extras),
        },
        { provide: Hiccups, useFactory: () => new Hiccups(options.hiccupRate) },
        { provide: Pace, useFactory: () => new Pace(options.paceMs) },
      ],
    };
  }
}
