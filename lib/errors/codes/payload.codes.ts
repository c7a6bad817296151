import type { ErrorCodeEntry } from './error-code-entry.js';

export const PAYLOAD_CODES = {
  INVALID_INPUT: {
    text: 'The input of {what} is not valid:{issues}\nPass an input that the schema accepts and that JSON can hold.',
    meaning: 'An input does not fit its schema, cannot be held by JSON, or is over `limits.maxInputBytes`.',
    retried: false,
    byHand: true,
  },
  INVALID_OUTPUT: {
    text: '{what} gave a value that cannot be stored: {path} {reason}.',
    meaning: 'An output does not fit its schema, cannot be held by JSON, or is over `limits.maxOutputBytes`.',
    retried: false,
    byHand: true,
  },
  RECORD_FAILED: {
    text: 'The outcome of stage {stage} could not be stored: {message}',
    meaning:
      'The database refused what a stage had given, in every form and again and again; the failure is stored in its place.',
    retried: false,
    byHand: true,
  },
  OUTPUT_MISSING: {
    text: 'There is no output of {wanted}[[ for {where}]]: it was skipped, has not run yet, or stands in no earlier group.[[ Outputs so far: {known}.]] Use ctx.optional where it may be missing.',
    meaning: 'A stage required the output of a node that has none.',
    retried: false,
    byHand: true,
  },
  AMBIGUOUS_STAGE: {
    text: 'Stage {stage} stands at several nodes ({nodes}), so its class does not say whose output is meant. Ask by the key of the node.',
    meaning: 'A stage class was used to name a node although it stands at more than one.',
    retried: false,
    byHand: true,
  },
  UNREADABLE_PAYLOAD: {
    text: '{what} is stored as a text that is not JSON: {reason}. It was changed outside the engine, or its codec is missing here.',
    meaning: 'A stored payload cannot be read back.',
    retried: false,
    byHand: true,
  },
} as const satisfies Record<string, ErrorCodeEntry>;
