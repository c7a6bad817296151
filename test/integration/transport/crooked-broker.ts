import type { JobMessage } from '../../../lib/engine/ports/index.js';
import { InProcessBroker } from '../../../lib/testing/transport/index.js';

/** A broker that loses and doubles messages. */
export class CrookedBroker extends InProcessBroker {
  readonly seen: JobMessage[] = [];
  readonly dropped: JobMessage[] = [];
  readonly removed: string[] = [];
  /** How often the so-manieth message (from 1) is put in; 0 loses it. */
  copies: (nth: number) => number = () => 1;
  /** Holds back everything. */
  closed = false;

  override put(messages: readonly JobMessage[]): void {
    const kept = messages.flatMap((message) => {
      this.seen.push(message);
      const copies = this.copies(this.seen.length);
      if (copies === 0) this.dropped.push(message);
      // The broker merges what has one id: a copy comes under another, as a second delivery would.
      return Array.from({ length: copies }, (_, copy) =>
        copy === 0 ? message : { ...message, id: `${message.id}#${copy}` },
      );
    });
    super.put(kept);
  }

  override take(queues: readonly string[] | null): JobMessage | undefined {
    return this.closed ? undefined : super.take(queues);
  }

  override removeRun(runId: string): void {
    this.removed.push(runId);
    super.removeRun(runId);
  }

  /** Lets go of what was held back. */
  open(): void {
    this.closed = false;
    super.put([]);
  }
}
