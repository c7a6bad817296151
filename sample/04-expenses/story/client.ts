import type { DefinitionCheck, DryRun } from 'nestjs-workflow-engine';
import type { ExpenseView } from '../expenses/expenses.service.js';

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

interface Ask {
  readonly round: string;
  readonly stage: number;
  readonly runId: string;
}

/** What somebody sees who asks over HTTP. */
export class Client {
  constructor(
    private readonly url: string,
    private readonly member: string,
  ) {}

  file(amount: number, purpose: string): Promise<Answer<{ id: string; runId: string }>> {
    return this.call('POST', '/expenses', { amount, purpose });
  }

  expense(id: string): Promise<Answer<ExpenseView>> {
    return this.call('GET', `/expenses/${id}`);
  }

  inbox(): Promise<Answer<Ask[]>> {
    return this.call('GET', '/approvals');
  }

  /** Answers what this member is asked about a run. */
  async decide(
    run: string,
    answer: 'approved' | 'rejected',
  ): Promise<Answer<{ status?: string; code?: string; message?: string }>> {
    const { body } = await this.inbox();
    const ask = body.find(({ runId }) => runId === run);
    if (!ask) return { status: 404, body: { message: `${this.member} is not asked about run ${run}.` } };
    return this.call('POST', `/approvals/${ask.round}`, { answer, stage: ask.stage });
  }

  validate(graph: object): Promise<Answer<DefinitionCheck>> {
    return this.call('POST', '/graphs/validate', graph);
  }

  dryRun(body: object): Promise<Answer<DryRun>> {
    return this.call('POST', '/graphs/dry-run', body);
  }

  publish(graph: object): Promise<Answer<{ version: number }>> {
    return this.call('POST', '/graphs', graph);
  }

  private async call<T>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    const response = await fetch(this.url + path, {
      method,
      headers: { 'x-member': this.member, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as T };
  }
}
