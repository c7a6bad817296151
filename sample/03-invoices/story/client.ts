import type { InvoiceView } from '../invoices/invoices.service.js';

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

/** What somebody sees who asks over HTTP. */
export class Client {
  constructor(
    private readonly url: string,
    private readonly member: string,
  ) {}

  create(customer: string, amount: number): Promise<Answer<{ id: string; runId: string }>> {
    return this.call('POST', '/invoices', { customer, amount });
  }

  list(): Promise<Answer<InvoiceView[]>> {
    return this.call('GET', '/invoices');
  }

  get(id: string): Promise<Answer<InvoiceView>> {
    return this.call('GET', `/invoices/${id}`);
  }

  /** Once its run has ended. */
  ended(id: string): Promise<Answer<InvoiceView>> {
    return this.call('GET', `/invoices/${id}/ended`);
  }

  retry(id: string, reason: string): Promise<Answer<{ message?: string }>> {
    return this.call('POST', `/invoices/${id}/retry`, { reason });
  }

  audit(): Promise<Answer<{ who: string; what: string; allowed: boolean; why: string | null }[]>> {
    return this.call('GET', '/audit');
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
