import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { renderReport } from '../report/report-text.js';
import { summarise } from '../report/summary.js';
import { DocumentRuns } from '../running/document-runs.service.js';

@ApiTags('documents')
@Controller('report')
export class ReportController {
  constructor(private readonly runs: DocumentRuns) {}

  @Get()
  @Header('Content-Type', 'text/plain; charset=utf-8')
  @ApiOperation({ summary: 'The report as the terminal shows it, as of now' })
  @ApiOkResponse({ content: { 'text/plain': { schema: { type: 'string' } } } })
  async report(): Promise<string> {
    return `${renderReport(summarise(await this.runs.outcomes()))}\n`;
  }
}
