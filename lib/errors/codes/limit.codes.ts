import type { ErrorCodeEntry } from './error-code-entry.js';

export const LIMIT_CODES = {
  STEP_LIMIT_EXCEEDED: {
    text: '{where} needs stage run {actual}, over {limit} = {value}. Look for a loop that does not end, or raise the limit in the module options.',
    meaning: 'A run needs more stage runs than `limits.maxStageRuns`.',
    retried: false,
    byHand: false,
  },
  NESTING_DEPTH_EXCEEDED: {
    text: '{where} would start a run at depth {actual}, over {limit} = {value}. Look for a workflow that starts itself, or raise the limit in the module options.',
    meaning: 'A child would be nested deeper than `limits.nestingDepth` (the root is 0).',
    retried: false,
    byHand: true,
  },
  START_RATE_EXCEEDED: {
    text: '{where} was started {actual} times in a minute, over {limit} = {value}. Start it later; the key stays free.',
    meaning: 'A definition was started more often than its limit per minute allows.',
    retried: false,
    byHand: false,
  },
  LOOP_LIMIT_EXCEEDED: {
    text: '{where} is in iteration {actual}, over {limit} = {value}. Check the condition that ends it, or loop over fewer items.',
    meaning: 'A loop needs more iterations than allowed.',
    retried: false,
    byHand: true,
  },
  GRAPH_TOO_LARGE: {
    text: '{where} has a size of {actual}, over {limit} = {value}. Split it into several workflows.',
    meaning: 'A graph has more nodes, edges or bytes than allowed.',
    retried: false,
    byHand: false,
  },
} as const satisfies Record<string, ErrorCodeEntry>;
