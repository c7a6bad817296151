import { announce, onMessage } from '../support/process-side.js';

/** Where a test holds the bodies of a process, each is told of and then waits for its turn; else nobody waits. */
const isHeld = process.env.CHAOS_HELD === '1';
const waiting: (() => void)[] = [];
let permits = 0;

if (isHeld)
  onMessage<{ readonly count: number }>('permit', ({ count }) => {
    permits += count;
    while (permits > 0 && waiting.length > 0) {
      permits -= 1;
      waiting.shift()!();
    }
  });

/** The middle of a body, in which its process may be killed, frozen or cut off. */
export async function permit(stageRun: string): Promise<void> {
  if (!isHeld) return;
  await announce('entered', { stageRun });
  if (permits > 0) permits -= 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
}
