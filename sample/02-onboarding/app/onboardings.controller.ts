import { Controller, Get, HttpCode, HttpStatus, Param, ParseUUIDPipe, Post, Res } from '@nestjs/common';
import {
  ApiConflictResponse,
  ApiCreatedResponse,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { EmitResult, SignalResult } from 'nestjs-workflow-engine';
import { type Customer, customerSchema } from '../customers/customer.js';
import {
  type CancelBody,
  cancelBody,
  type DecisionBody,
  decisionBody,
  type ProfileBody,
  profileBody,
} from './bodies.js';
import { DescribeBody, ParsedBody } from './body.js';
import type { OnboardingView } from './onboarding-view.js';
import { Onboardings } from './onboardings.service.js';

/** As much of a response as is used here. */
interface Answer {
  status(code: number): unknown;
}

@ApiTags('onboardings')
@Controller('onboardings')
export class OnboardingsController {
  constructor(private readonly onboardings: Onboardings) {}

  @Post()
  @ApiOperation({ summary: 'Begin to onboard a customer; the same address again answers with the same onboarding' })
  @DescribeBody(customerSchema)
  @ApiCreatedResponse({ description: 'Begun' })
  @ApiOkResponse({ description: 'Was begun before' })
  @ApiConflictResponse({ description: 'IDEMPOTENCY_CONFLICT: begun before, with another name or plan' })
  async start(
    @ParsedBody(customerSchema) customer: Customer,
    @Res({ passthrough: true }) answer: Answer,
  ): Promise<{ id: string; created: boolean }> {
    const started = await this.onboardings.start(customer);
    answer.status(started.created ? HttpStatus.CREATED : HttpStatus.OK);
    return started;
  }

  @Get(':id')
  @ApiOperation({ summary: 'Where an onboarding stands, what it waits for, and everything that happened' })
  @ApiNotFoundResponse({ description: 'RUN_NOT_FOUND' })
  view(@Param('id', ParseUUIDPipe) id: string): Promise<OnboardingView> {
    return this.onboardings.view(id);
  }

  @Post(':id/profile')
  @HttpCode(HttpStatus.ACCEPTED)
  @ApiOperation({ summary: 'Complete the profile (an event)' })
  @DescribeBody(profileBody)
  @ApiNotFoundResponse({ description: 'RUN_NOT_FOUND' })
  @ApiConflictResponse({ description: 'RUN_ENDED' })
  completeProfile(
    @Param('id', ParseUUIDPipe) id: string,
    @ParsedBody(profileBody) { messageId, ...profile }: ProfileBody,
  ): Promise<EmitResult> {
    return this.onboardings.completeProfile(id, profile, messageId);
  }

  @Post(':id/sign-off')
  @HttpCode(HttpStatus.ACCEPTED)
  @ApiOperation({ summary: 'Decide whether the customer is taken (a signal)' })
  @DescribeBody(decisionBody)
  @ApiNotFoundResponse({ description: 'RUN_NOT_FOUND' })
  @ApiConflictResponse({ description: 'RUN_ENDED' })
  decide(
    @Param('id', ParseUUIDPipe) id: string,
    @ParsedBody(decisionBody) { messageId, ...decision }: DecisionBody,
  ): Promise<SignalResult> {
    return this.onboardings.decide(id, decision, messageId);
  }

  @Post(':id/cancel')
  @HttpCode(HttpStatus.OK)
  @ApiOperation({ summary: 'Cancel an onboarding that has not ended; its billing ends with it' })
  @DescribeBody(cancelBody)
  @ApiNotFoundResponse({ description: 'RUN_NOT_FOUND' })
  @ApiConflictResponse({ description: 'RUN_NOT_CANCELLABLE' })
  async cancel(
    @Param('id', ParseUUIDPipe) id: string,
    @ParsedBody(cancelBody) { reason }: CancelBody,
  ): Promise<OnboardingView> {
    await this.onboardings.cancel(id, reason);
    return this.onboardings.view(id);
  }
}
