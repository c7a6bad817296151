/**
 * Whether a failure with this code, while its process shuts down, may have come from that alone: the host's own clients are
 * closed by then, and the work is handed back instead (LEASE-6). What the engine found in a payload holds at any time.
 */
export const mayBeOfShutdown = (code: string): boolean => code !== 'INVALID_INPUT' && code !== 'INVALID_OUTPUT';
