import { nextTimerMs } from '../../engine/time/index.js';

/** Whether `promise` settles within `ms`. What it settles with is not looked at; the timer does not outlive the call. */
export async function within(ms: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), nextTimerMs(ms));
  });
  const settled = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, late]);
  } finally {
    clearTimeout(timer);
  }
}
