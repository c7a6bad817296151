import type { StepOrder } from '../../../../engine/ports/index.js';
import { RowSet } from '../row-set.js';

interface OrderRow {
  /** Which of the call's items brings it, from 1. */
  w: number;
  key: string;
  seq: number;
}

/** Places of outcomes that came from outside. */
export const orderRows = new RowSet<OrderRow>({ w: 'int', key: 'text', seq: 'int' });

/** @param w place of the item that brings it, from 1 */
export const orderRow = (w: number, { key, seq }: StepOrder): OrderRow => ({ w, key, seq });
