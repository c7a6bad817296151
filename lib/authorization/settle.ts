import type { ObservableAnswer } from '../interfaces/index.js';
import type { Deadlines } from '../runtime/background/deadlines.js';

/** How an answer ended in time; `empty` is an Observable that completed without a value. */
export type Settled =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'empty' }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'late' };

/** Time limits, as the runtime keeps them. */
export type TimeLimits = Pick<Deadlines, 'add' | 'drop'>;

/**
 * Calls `ask` and waits for what it returns: a plain value, a Promise, or an Observable, of which the last value counts. Never
 * rejects, and ends at the limit whatever becomes of the answer; an Observable is left then.
 */
export function settle(ask: () => unknown, limitMs: number, limits: TimeLimits): Promise<Settled> {
  return new Promise((resolve) => {
    let over = false;
    let leave: (() => void) | undefined;
    const end = (settled: Settled): void => {
      if (over) return;
      over = true;
      limits.drop(limit);
      resolve(settled);
      if (settled.kind === 'late') leave?.();
    };
    const threw = (error: unknown): void => end({ kind: 'threw', error });
    const limit = limits.add(limitMs, () => end({ kind: 'late' }));
    const answered = async (): Promise<void> => {
      const answer = await ask();
      if (!isObservable(answer)) end({ kind: 'value', value: answer });
      else if (!over) leave = subscribe(answer, end, threw);
    };
    answered().catch(threw);
  });
}

function isObservable(answer: unknown): answer is ObservableAnswer {
  if (typeof answer !== 'object' || answer === null) return false;
  return typeof (answer as Partial<ObservableAnswer>).subscribe === 'function';
}

function subscribe(
  answer: ObservableAnswer,
  end: (settled: Settled) => void,
  threw: (error: unknown) => void,
): () => void {
  let last: Settled = { kind: 'empty' };
  const subscription = answer.subscribe({
    next: (value) => void (last = { kind: 'value', value }),
    error: threw,
    complete: () => end(last),
  });
  return () => subscription.unsubscribe();
}
