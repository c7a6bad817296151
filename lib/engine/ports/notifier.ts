/** A hint between processes. Hints may be lost, doubled or late: polling is the truth (JOB-4). */
export interface Hint {
  /** New work may be due. */
  readonly work?: boolean;
  /** Runs that were cancelled or failed: their bodies' abort signals fire. */
  readonly cancelled?: readonly string[];
  /** Awaited runs that ended. */
  readonly finished?: readonly string[];
  /** Events were stored that nobody has matched with open waits yet: whoever hears this does. */
  readonly events?: boolean;
}

export interface Notifier {
  /** Sends to every other process, coalesced, after commit. Never throws. */
  publish(hint: Hint): void;
  /** Hints from other processes, and of joined transactions of this one; its own others it has acted on already. */
  subscribe(listener: (hint: Hint) => void): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}
