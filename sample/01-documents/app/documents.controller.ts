import { Controller, Get, Headers, Param, Post } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiHeader,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { DocumentLibrary } from '../documents/document-library.js';
import { DocumentRuns } from '../running/document-runs.service.js';
import { DocumentDto, StartedRunDto } from './documents.dto.js';

@ApiTags('documents')
@Controller('documents')
export class DocumentsController {
  constructor(
    private readonly library: DocumentLibrary,
    private readonly runs: DocumentRuns,
  ) {}

  @Get()
  @ApiOperation({ summary: 'All documents that can be analysed' })
  @ApiOkResponse({ type: [DocumentDto] })
  list(): DocumentDto[] {
    return this.library.list().map(({ id, name, kind, declaredLanguage }) => ({ id, name, kind, declaredLanguage }));
  }

  @Post(':id/runs')
  @ApiOperation({ summary: 'Start the analysis of a document' })
  @ApiHeader({ name: 'Idempotency-Key', required: false, description: 'The same key again answers with the same run' })
  @ApiCreatedResponse({ type: StartedRunDto })
  @ApiNotFoundResponse({ description: 'NO_SUCH_DOCUMENT' })
  async start(@Param('id') id: string, @Headers('idempotency-key') idempotencyKey?: string): Promise<StartedRunDto> {
    const document = this.library.get(id);
    // A key of somebody's own must not meet those of the batch.
    const { runId, created } = await this.runs.start(document.id, idempotencyKey && `http:${idempotencyKey}`);
    return { runId, created };
  }
}
