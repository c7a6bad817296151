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
  tell({ data: { to, message } }: WorkflowEvent<'escalation:notified'>): void {
    this.sent.push(`${to.join(', ')}: ${message}`);
  }
}
