import { Body, Controller, Get, HttpCode, HttpStatus, Param, ParseUUIDPipe, Post } from '@nestjs/common';
import { ApprovalsService } from 'nestjs-workflow-engine';

/** What people are asked, and what they answer: who calls is the actor of the request. */
@Controller('approvals')
export class ApprovalsController {
  constructor(private readonly approvals: ApprovalsService) {}

  @Get()
  async inbox(): Promise<{ round: string; stage: number; runId: string }[]> {
    const { asks } = await this.approvals.inbox();
    return asks.map(({ round, stage, runId }) => ({ round, stage, runId }));
  }

  @Post(':round')
  @HttpCode(HttpStatus.ACCEPTED)
  async decide(
    @Param('round', ParseUUIDPipe) round: string,
    @Body() { answer, reason, stage }: { answer: 'approved' | 'rejected'; reason?: string; stage: number },
  ): Promise<{ status: string; repeated: boolean }> {
    const { approval, repeated } = await this.approvals.decide(round, answer, {
      stage,
      ...(reason !== undefined && { reason }),
    });
    return { status: approval.status, repeated };
  }
}
