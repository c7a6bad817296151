import { decodeJson } from '../codec/index.js';
import { compileTrigger } from './checked-trigger.js';
import type { CompiledTrigger } from './compiled-graph.js';

/** Specs that are remembered: a process meets the same few at every pass. */
const MOST_KNOWN = 1_000;

/** Triggers as they are stored, compiled once. */
export class TriggerSpecs {
  readonly #known = new Map<string, CompiledTrigger>();

  /** @throws Error for one that this build cannot read */
  of(spec: string): CompiledTrigger {
    let trigger = this.#known.get(spec);
    if (trigger === undefined) {
      trigger = compileTrigger(decodeJson(spec, 'A trigger'));
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.set(spec, trigger);
    }
    return trigger;
  }
}
