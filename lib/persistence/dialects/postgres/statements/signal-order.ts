/**
 * Of several open waits for one signal (alias `s`), who gets it comes first: what the body awaited last, and of what it awaited
 * together the first. Keys end in a count, so the shorter one is the earlier.
 */
export const SIGNAL_ORDER = 's.epoch DESC, s.created_at, length(s.key), s.key';
