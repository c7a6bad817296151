import { Injectable } from '@nestjs/common';
import { OnWorkflowEvent, type ApproverResolver, type WorkflowEvent } from 'nestjs-workflow-engine';

/** Who signs: `approvers.leads` in graphs. Yours would ask a table. */
@Injectable()
export class Leads implements ApproverResolver {
  resolve(): string[] {
    return ['bob', 'cleo', 'dan'];
  }
}

/** Tells people; yours would send a mail. */
@Injectable()
export class Messenger {
  readonly sent: string[] = [];

  @OnWorkflowEvent('escalation:notified')
  tell({ data }: WorkflowEvent<'escalation:notified'>): void {
    const { to, message } = data as { to: readonly string[]; message: string | null };
    this.sent.push(`${to.join(', ')}: ${message}`);
  }
}
