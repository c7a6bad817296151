import { Injectable } from '@nestjs/common';

/** Stands for the bank. Asked again with the same key, it answers the same. */
@Injectable()
export class Bank {
  readonly orders = new Map<string, { readonly order: string; readonly amount: number; readonly purpose: string }>();

  order(key: string, amount: number, purpose: string): string {
    const known = this.orders.get(key);
    if (known) return known.order;
    const order = `order-${this.orders.size + 1}`;
    this.orders.set(key, { order, amount, purpose });
    return order;
  }
}
