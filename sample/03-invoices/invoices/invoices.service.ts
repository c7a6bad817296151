import { Injectable, NotFoundException } from '@nestjs/common';
import { AuditService, type RunView, WorkflowService } from 'nestjs-workflow-engine';
import { TeamTransactions } from '../teams/team-transactions.js';
import { InvoiceRun } from '../workflow/invoice.workflow.js';
import { Invoice } from './invoice.entity.js';

/** An invoice as its team sees it. */
export interface InvoiceView {
  readonly id: string;
  readonly customer: string;
  readonly amount: number;
  readonly status: string;
  readonly run: { readonly id: string; readonly status: string };
  /** Why it got no further, for people. */
  readonly problem: string | null;
}

/** Invoices of the team that asks. None of these says a word about teams: the context, the engine and the database do. */
@Injectable()
export class Invoices {
  constructor(
    private readonly transactions: TeamTransactions,
    private readonly workflows: WorkflowService,
    private readonly audit: AuditService,
  ) {}

  /** The invoice and its run come to be together, or not at all. */
  create(customer: string, amount: number): Promise<{ id: string; runId: string }> {
    return this.transactions.run(async (manager, teamId) => {
      const { id } = await manager.save(manager.create(Invoice, { teamId, customer, amount }));
      const { run } = await this.workflows.start(InvoiceRun, {}, { subject: { type: 'invoice', id }, manager });
      return { id, runId: run.id };
    });
  }

  async list(): Promise<InvoiceView[]> {
    const invoices = await this.transactions.run((manager) => manager.find(Invoice, { order: { amount: 'ASC' } }));
    return Promise.all(invoices.map((invoice) => this.viewOf(invoice)));
  }

  async get(id: string): Promise<InvoiceView> {
    return this.viewOf(await this.find(id));
  }

  /** Resolves with the invoice once its run has ended, well or not. */
  async ended(id: string): Promise<InvoiceView> {
    const { id: runId } = await this.runOf(await this.find(id));
    await this.workflows.result(runId).catch(() => undefined);
    return this.get(id);
  }

  async retry(id: string, reason: string): Promise<void> {
    const { id: runId } = await this.runOf(await this.find(id));
    await this.workflows.retry(runId, { reason });
  }

  /** What people asked to be done with the runs of the team. */
  async asked(): Promise<{ who: string; what: string; allowed: boolean; why: string | null }[]> {
    const { entries } = await this.audit.list();
    return entries.map(({ actor, action, allowed, reason }) => {
      return { who: (actor as { name: string }).name, what: action, allowed, why: reason };
    });
  }

  private async find(id: string): Promise<Invoice> {
    const invoice = await this.transactions.run((manager) => manager.findOneBy(Invoice, { id }));
    if (!invoice) throw new NotFoundException('There is no such invoice.');
    return invoice;
  }

  private async runOf({ id }: Invoice): Promise<RunView> {
    const { runs } = await this.workflows.list({ subject: { type: 'invoice', id } });
    return this.workflows.get(runs[0]!.id);
  }

  private async viewOf(invoice: Invoice): Promise<InvoiceView> {
    const { id, customer, amount, status } = invoice;
    const { failure, ...run } = await this.runOf(invoice);
    return { id, customer, amount, status, run: { id: run.id, status: run.status }, problem: failure?.message ?? null };
  }
}
