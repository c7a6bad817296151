import { NestFactory } from '@nestjs/core';
import type { INestApplication } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { AppModule, type AppOptions } from './app.module.js';
import { ErrorFilter } from './error.filter.js';

/** The Nest app with its Swagger page at /api, initialised and not yet listening. */
export async function createApp(options: AppOptions): Promise<INestApplication> {
  // Progress is drawn where Nest would log, so only what needs attention is told.
  const app = await NestFactory.create(AppModule.register(options), { logger: ['warn', 'error', 'fatal'] });
  app.useGlobalFilters(new ErrorFilter(app.get(HttpAdapterHost).httpAdapter));
  const description = new DocumentBuilder()
    .setTitle('Documents')
    .setDescription('A document pipeline on nestjs-workflow-engine')
    .build();
  SwaggerModule.setup('api', app, () => SwaggerModule.createDocument(app, description));
  return app;
}
