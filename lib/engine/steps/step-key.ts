/** Longest name of a step: keys stand in an index. */
export const MAX_NAME_LENGTH = 200;

/**
 * The identity of a step within its stage run: `<scope><name>#<occurrence>`. Occurrences count within a scope; each item of
 * `step.all` is a scope of its own (STEP-2).
 */
export const stepKey = (scope: string, name: string, occurrence: number): string =>
  `${scope}${escapeName(name)}#${occurrence}`;

/** Scope of one item of `step.all`. */
export const itemScope = (scope: string, name: string, occurrence: number, index: number): string =>
  `${stepKey(scope, name, occurrence)}[${index}]/`;

/** Key of the wait for a body of the same stage run that runs elsewhere. No name yields it. */
export const LEASE_KEY = '@lease';
/** Key of what `ctx.suspend` waits with. */
export const COMPLETION_KEY = '@completion';

/** Name of a step as people wrote it, for messages. */
export const stepName = (key: string): string =>
  decodeURIComponent(key.slice(key.lastIndexOf('/') + 1).replace(/#\d+$/, ''));

/** What keys are put together with can't come out of a name: no two steps share a key, whatever they are called. */
const escapeName = (name: string): string => name.replace(/[%#/[\]@]/g, encodeURIComponent);
