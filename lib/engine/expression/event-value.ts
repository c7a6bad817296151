import { thrownMessage } from '../codec/thrown-text.js';

/**
 * A payload as conditions see it. Objects become Maps, so that a key named `constructor` or `__proto__` is a key like any
 * other. One walk; make it once for an event that many conditions are asked of.
 */
export class EventValue {
  readonly value: unknown;
  /** All values in it: lists, objects, and what they hold. */
  values = 0;
  /** Items of its longest list, or keys of its largest object. */
  longestList = 0;
  /** Characters of its longest text. */
  longestText = 0;
  /** Why it cannot be read, or null: no payload that was stored is such a one. */
  readonly problem: string | null = null;

  constructor(payload: unknown) {
    try {
      this.value = this.#read(payload ?? null);
    } catch (error) {
      // Deeper than the stack, or an object that is no data: getters and proxies throw what they like.
      this.value = null;
      this.problem = `the payload cannot be read: ${thrownMessage(error)}`;
    }
  }

  static of(payload: unknown): EventValue {
    // Not `instanceof`, which asks a payload for its prototype: a proxy may throw.
    const isOne = typeof payload === 'object' && payload !== null && #read in payload;
    return isOne ? (payload as EventValue) : new EventValue(payload);
  }

  #read(value: unknown): unknown {
    this.values += 1;
    if (typeof value === 'string') this.longestText = Math.max(this.longestText, value.length);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      this.longestList = Math.max(this.longestList, value.length);
      return value.map((item) => this.#read(item));
    }
    const keys = Object.keys(value);
    this.longestList = Math.max(this.longestList, keys.length);
    return new Map(keys.map((key) => [key, this.#read((value as Record<string, unknown>)[key])]));
  }
}
