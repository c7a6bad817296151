import { errorLine, type RuntimeLog } from '../background/runtime-log.js';
import type { DefinitionSource } from '../execution/definition-source.js';

/** The longest a job is put off for want of its definition, and the longest until one is looked for again. */
const LONGEST_DEFER_MS = 600_000;
/** What is skipped at once: plain SQL may make up as many keys as it likes, and each claim names them all. */
const MOST_SKIPPED = 1_000;

export interface UnservedDefinitionsParts {
  readonly definitions: Pick<DefinitionSource, 'byKey' | 'mayServe'>;
  readonly log: RuntimeLog;
  /** `versionDeferDelay`. */
  readonly deferMs: number;
  readonly now?: () => number;
}

interface Unserved {
  /** Of the run that it was met with. */
  readonly ownerId: string | null;
  /** False: the claim may bring it once more. */
  skipped: boolean;
  looks: number;
  lookAt: number;
}

/**
 * Definition versions that jobs asked for and that this build does not serve: skipped by the claim before its limit, so
 * that they hold nobody up, and told once each (GHOST-3).
 *
 * What is skipped no job ever asks for again, so it is looked for here, beside the claims: a module that was loaded lazily may have
 * brought what was missing, and what could not be read may be readable now. Later each time, up to ten minutes.
 */
export class UnservedDefinitions {
  /** By key, longest known first. */
  readonly #unserved = new Map<string, Unserved>();
  readonly #now: () => number;
  #looking: Promise<void> | undefined;

  constructor(private readonly parts: UnservedDefinitionsParts) {
    this.#now = parts.now ?? (() => performance.now());
  }

  /** For the claim. What is due to be looked for again is, and counts for a later claim. */
  keys(): readonly string[] {
    if (this.#unserved.size === 0) return NONE;
    const skipped: string[] = [];
    let isDue = false;
    for (const [key, unserved] of this.#unserved) {
      if (this.parts.definitions.byKey(key)) this.#served(key);
      else {
        if (unserved.skipped) skipped.push(key);
        isDue ||= unserved.lookAt <= this.#now();
      }
    }
    if (isDue) this.#looking ??= this.#lookAgain().finally(() => (this.#looking = undefined));
    return skipped;
  }

  /** @param ownerId of the run that asked for it */
  learn(definitionKey: string, ownerId: string | null): void {
    const { definitions, log, deferMs } = this.parts;
    const known = this.#unserved.get(definitionKey);
    if (known) {
      known.skipped = true;
      return;
    }
    // Its other stages are as good as ever.
    if (definitions.byKey(definitionKey)) return log.warn(`${definitionKey} has no such stage: the job is put off.`);
    if (this.#unserved.size >= MOST_SKIPPED) this.#unserved.delete(this.#unserved.keys().next().value!);
    this.#unserved.set(definitionKey, { ownerId, skipped: true, looks: 0, lookAt: this.#now() + deferMs });
    log.warn(
      `This build does not serve ${definitionKey}: its runs are left to processes that do, and wait as long as there are ` +
        'none. It is looked for again by itself. Deploy the version again, or move or cancel its runs.',
    );
  }

  /** How long the job waits before a build is asked again: longer each time. */
  delayMs(deferrals: number): number {
    const { deferMs } = this.parts;
    return Math.min(deferMs * 2 ** Math.min(deferrals, 30), Math.max(LONGEST_DEFER_MS, deferMs));
  }

  /** Resolves when nothing is being looked for. */
  async looked(): Promise<void> {
    await this.#looking;
  }

  /** One after the other: the connections are for those who claim and record. Never rejects. */
  async #lookAgain(): Promise<void> {
    for (const [key, unserved] of this.#unserved) if (unserved.lookAt <= this.#now()) await this.#look(key, unserved);
  }

  async #look(key: string, unserved: Unserved): Promise<void> {
    const { definitions, log } = this.parts;
    try {
      if (await definitions.mayServe(key, unserved.ownerId)) {
        if (definitions.byKey(key)) this.#served(key);
        // Runs of other owners may be, and only their jobs say whose they are.
        else unserved.skipped = false;
      }
    } catch (error) {
      log.debug(`Whether this build serves ${key} now could not be read: ${errorLine(error)}`);
    }
    unserved.looks++;
    unserved.lookAt = this.#now() + this.delayMs(unserved.looks);
  }

  #served(key: string): void {
    if (this.#unserved.delete(key)) this.parts.log.log(`This build serves ${key} now.`);
  }
}

const NONE: readonly string[] = Object.freeze([]);
