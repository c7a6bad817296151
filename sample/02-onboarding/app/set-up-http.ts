import type { INestApplication } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { ErrorFilter } from './error.filter.js';

/** What the app needs to answer over HTTP, its Swagger page at /api included. */
export function setUpHttp(app: INestApplication): INestApplication {
  app.useGlobalFilters(new ErrorFilter(app.get(HttpAdapterHost).httpAdapter));
  const description = new DocumentBuilder()
    .setTitle('Onboarding')
    .setDescription('Taking customers on, on nestjs-workflow-engine')
    .build();
  SwaggerModule.setup('api', app, () => SwaggerModule.createDocument(app, description));
  return app;
}
