const REAL = [
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const;

/** Sets the clock of this host, and that alone: timers go on as they are. Until `jest.useRealTimers()`. */
export function setHostClock(now: number): void {
  jest.useFakeTimers({ now, doNotFake: [...REAL] });
}
