export { checkInputBytes, checkNestingDepth, checkOutputBytes, checkStageRuns } from './check-limits.js';
export { roomFor } from './start-rate.js';
export { DEFAULT_LIMITS, compileLimits, lowerLimits } from './limits.js';
export type { CompiledLimits, LimitsInput } from './limits.js';
