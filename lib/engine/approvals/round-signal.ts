/**
 * The name of the signal that tells a stage of the end of its round. What it says is looked up in the round: a signal of this name that
 * somebody else sends only makes the stage look.
 */
export const roundSignal = (roundId: string): string => `${ROUND_SIGNAL_PREFIX}${roundId}`;

export const ROUND_SIGNAL_PREFIX = 'approval:';
