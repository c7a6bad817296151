import { Body, Controller, Get, HttpCode, Param, ParseUUIDPipe, Post, Query } from '@nestjs/common';
import { ApiConflictResponse, ApiNotFoundResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type RunHistoryView, type RunPage, type RunView, WorkflowService } from 'nestjs-workflow-engine';
import { CancelRunDto, ListRunsDto } from './runs.dto.js';

@ApiTags('runs')
@Controller('runs')
export class RunsController {
  constructor(private readonly workflows: WorkflowService) {}

  @Get()
  @ApiOperation({ summary: 'Runs, newest first' })
  list(@Query() { status, limit, cursor }: ListRunsDto): Promise<RunPage> {
    return this.workflows.list({
      definition: 'document-analysis',
      ...(status && { status }),
      ...(limit && { limit: Number(limit) }),
      ...(cursor && { cursor }),
    });
  }

  @Get(':id')
  @ApiOperation({ summary: 'Where a run stands' })
  @ApiNotFoundResponse({ description: 'RUN_NOT_FOUND' })
  status(@Param('id', ParseUUIDPipe) id: string): Promise<RunView> {
    return this.workflows.get(id);
  }

  @Get(':id/history')
  @ApiOperation({ summary: 'Everything that happened in a run: stages, attempts, failures' })
  @ApiNotFoundResponse({ description: 'RUN_NOT_FOUND' })
  history(@Param('id', ParseUUIDPipe) id: string): Promise<RunHistoryView> {
    return this.workflows.history(id);
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'Cancel a run that has not ended' })
  @ApiConflictResponse({ description: 'RUN_NOT_CANCELLABLE' })
  async cancel(@Param('id', ParseUUIDPipe) id: string, @Body() body?: CancelRunDto): Promise<RunView> {
    await this.workflows.cancel(id, body?.reason ?? 'cancelled over HTTP');
    return this.workflows.get(id);
  }

  @Post(':id/retry')
  @HttpCode(200)
  @ApiOperation({ summary: 'Try a failed run again, from the stage that failed' })
  @ApiConflictResponse({ description: 'RUN_NOT_RETRYABLE' })
  async retry(@Param('id', ParseUUIDPipe) id: string): Promise<RunView> {
    await this.workflows.retry(id);
    return this.workflows.get(id);
  }
}
