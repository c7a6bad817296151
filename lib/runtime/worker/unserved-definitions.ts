import type { ServedStages } from '../execution/served-stages.js';
import type { RuntimeLog } from '../background/runtime-log.js';

/** The longest a job is put off for want of its definition. */
const LONGEST_DEFER_MS = 600_000;

/**
 * Definition versions that jobs asked for and that this build does not serve: skipped by the claim before its limit, so
 * that they hold nobody up, and told once each (GHOST-3).
 */
export class UnservedDefinitions {
  readonly #keys = new Set<string>();

  constructor(
    private readonly stages: Pick<ServedStages, 'serves'>,
    private readonly log: RuntimeLog,
    private readonly deferMs: number,
  ) {}

  /** For the claim. A definition that a module loaded lazily has brought meanwhile is served again. */
  keys(): readonly string[] {
    if (this.#keys.size === 0) return NONE;
    for (const key of this.#keys) if (this.stages.serves(key)) this.#keys.delete(key);
    return [...this.#keys];
  }

  learn(definitionKey: string): void {
    if (this.#keys.has(definitionKey)) return;
    this.#keys.add(definitionKey);
    this.log.warn(
      `This build does not serve ${definitionKey}: its runs are left to processes that do, and wait as long as there are ` +
        'none. Deploy the version again, or move or cancel its runs.',
    );
  }

  /** How long the job waits before a build is asked again: longer each time. */
  delayMs(deferrals: number): number {
    return Math.min(this.deferMs * 2 ** Math.min(deferrals, 30), Math.max(LONGEST_DEFER_MS, this.deferMs));
  }
}

const NONE: readonly string[] = Object.freeze([]);
