import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';

export type PaymentState = 'pending' | 'settled' | 'declined';

export interface PaymentStatus {
  readonly state: PaymentState;
  /** How often it was looked at. */
  readonly looks: number;
}

export interface Charge {
  readonly accountId: string;
  readonly card: string;
  readonly amountCents: number;
}

/** A payment is settled when it is looked at for this time. */
export const LOOKS_UNTIL_SETTLED = 3;
export const DECLINED_CARD = 'card-declined';

/** Stands for a payment provider that takes its time: in memory, and deterministic. */
@Injectable()
export class PaymentProvider {
  private readonly payments = new Map<string, { card: string; looks: number }>();
  private readonly accounts = new Map<string, string>();

  /** Opens an account; the same key again names the same one. */
  async openAccount(email: string, key: string): Promise<string> {
    const accountId = idOf('acc', key);
    this.accounts.set(accountId, email);
    return accountId;
  }

  /** Begins to charge a card; the same key again is the same payment. */
  async charge({ card }: Charge, key: string): Promise<string> {
    const paymentId = idOf('pay', key);
    if (!this.payments.has(paymentId)) this.payments.set(paymentId, { card, looks: 0 });
    return paymentId;
  }

  /** Where a payment stands. @throws Error for one that was never begun */
  async look(paymentId: string): Promise<PaymentStatus> {
    const payment = this.payments.get(paymentId);
    if (!payment) throw new Error(`There is no payment ${paymentId}`);
    payment.looks += 1;
    if (payment.card === DECLINED_CARD) return { state: 'declined', looks: payment.looks };
    return { state: payment.looks < LOOKS_UNTIL_SETTLED ? 'pending' : 'settled', looks: payment.looks };
  }
}

function idOf(kind: string, key: string): string {
  return `${kind}-${createHash('sha256').update(key).digest('hex').slice(0, 8)}`;
}
