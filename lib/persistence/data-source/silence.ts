/**
 * How long a transaction that holds runs may hear nothing from its process before the server ends it. Engine statements follow each other
 * within milliseconds, so whoever is silent for so long is gone, or has stood still for longer than its work can wait.
 */
export const LONGEST_SILENCE_MS = 30_000;
