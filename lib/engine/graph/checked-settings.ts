import type { DefinitionSettings } from '../definition/index.js';
import { parseDurationMs } from '../time/index.js';
import type { GraphCheck } from './graph-check.js';
import type { GraphSettings } from './graph-schema.js';

/** LIMIT-3: what is published may be started by many who have not written it. */
const STARTS_PER_MINUTE = 60;

/** Checks and compiles the settings of a graph, whose shape is right. A graph may only lower the limits of the app. */
export function checkGraphSettings(
  { actor = 'system', limits = {}, deadline, queue }: GraphSettings,
  { defaults, problems }: GraphCheck,
): DefinitionSettings {
  const lower = (name: 'maxStageRuns' | 'startsPerMinute', most: number): number => {
    const wanted = limits[name];
    if (wanted !== undefined && wanted > most) {
      const message = `"${name}" is ${wanted}, above the module's ${most}: a graph may only lower it`;
      problems.add('INVALID_SHAPE', ['settings', 'limits', name], { message });
    }
    return wanted ?? most;
  };
  return {
    actor,
    queue: queue ?? null,
    maxStageRuns: lower('maxStageRuns', defaults.maxStageRuns),
    startsPerMinute: lower('startsPerMinute', defaults.startsPerMinute ?? STARTS_PER_MINUTE),
    deadlineMs: deadline === undefined ? null : parseDurationMs(deadline, 'deadline'),
  };
}
