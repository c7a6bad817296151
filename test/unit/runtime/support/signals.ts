/** A promise that a test resolves by hand. */
export interface Signal<T = void> extends Promise<T> {
  fire(value: T): void;
}

export function signal<T = void>(): Signal<T> {
  let fire!: (value: T) => void;
  const promise = new Promise<T>((resolve) => (fire = resolve));
  return Object.assign(promise, { fire }) as Signal<T>;
}

/** Lets everything run that is ready, macrotasks included. */
export async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
