import { Injectable } from '@nestjs/common';
import {
  type EmitResult,
  RunEndedError,
  RunNotFoundError,
  type RunView,
  type SignalResult,
  WorkflowService,
} from 'nestjs-workflow-engine';
import { type Customer, type Decision, type Profile, profileCompleted, SIGN_OFF } from '../customers/customer.js';
import { Onboarding } from '../onboarding.workflow.js';
import { childOf, type OnboardingView, toOnboardingView } from './onboarding-view.js';

/** What may be done with onboardings. Other runs, such as those of billing, read as missing. */
@Injectable()
export class Onboardings {
  constructor(private readonly workflows: WorkflowService) {}

  /** Begins to onboard a customer, or finds what an earlier call with the same address has begun. */
  async start(customer: Customer): Promise<{ id: string; created: boolean }> {
    const idempotencyKey = `onboarding:${customer.email.toLowerCase()}`;
    const { run, created } = await this.workflows.start(Onboarding, customer, { idempotencyKey });
    return { id: run.id, created };
  }

  /** @throws RunNotFoundError */
  async view(id: string): Promise<OnboardingView> {
    await this.find(id);
    const history = await this.workflows.history(id);
    const billing = childOf(history);
    return toOnboardingView(history, billing === undefined ? null : await this.workflows.history(billing));
  }

  /**
   * Tells of a completed profile. Early or late is all one to the engine: an event that nobody waits for yet is kept, one
   * that nobody will ever wait for is not an error. To the customer it is, so an onboarding that has ended refuses it.
   *
   * @throws RunNotFoundError, RunEndedError
   */
  async completeProfile(id: string, profile: Profile, messageId?: string): Promise<EmitResult> {
    const { finishedAt } = await this.find(id);
    if (finishedAt) throw new RunEndedError({ runId: id, what: 'the profile' });
    return this.workflows.emit({ key: profileCompleted(id), payload: profile, ...(messageId && { messageId }) });
  }

  /** @throws RunNotFoundError, RunEndedError */
  async decide(id: string, decision: Decision, messageId?: string): Promise<SignalResult> {
    await this.find(id);
    return this.workflows.signal(id, SIGN_OFF, decision, { ...(messageId && { messageId }) });
  }

  /** @throws RunNotFoundError, RunNotCancellableError */
  async cancel(id: string, reason: string): Promise<void> {
    await this.find(id);
    await this.workflows.cancel(id, reason);
  }

  private async find(id: string): Promise<RunView> {
    const run = await this.workflows.get(id);
    if (run.definition !== 'onboarding') throw new RunNotFoundError({ runId: id });
    return run;
  }
}
