import type { CompiledRetryPolicy } from '../retry/retry-policy.js';
import type { DefinitionSettings } from './compiled-definition.js';
import type { Complaints } from './complaints.js';
import { readPositiveMs, readQueue, readRetry, refuseUnknown, show } from './common-options.js';
import type { PipelineDefaults, PipelineSource } from './pipeline-source.js';

const ACTORS = ['system', 'on_behalf_of'] as const;

export interface CheckedSettings {
  readonly settings: DefinitionSettings;
  readonly retry: CompiledRetryPolicy | undefined;
}

/** What `@Workflow` says beside id, version and input. Where it is wrong, the default stands in so that checking goes on. */
export function checkSettings(
  source: PipelineSource,
  defaults: PipelineDefaults,
  complaints: Complaints,
): CheckedSettings {
  const { place, settings } = source;
  return {
    retry: readRetry(settings.retry, place, complaints),
    settings: {
      queue: readQueue(settings.queue, place, complaints) ?? null,
      ...readLimits(source, defaults, complaints),
      deadlineMs: readPositiveMs(settings.deadline, 'deadline', place, complaints) ?? null,
      actor: readActor(source, complaints),
    },
  };
}

const LIMITS = ['maxStageRuns', 'startsPerMinute'] as const;
/** The module's own bounds are checked with its options. */
const MOST_STARTS = 1_000_000;

function readLimits(
  { place, settings }: PipelineSource,
  { maxStageRuns, startsPerMinute }: PipelineDefaults,
  complaints: Complaints,
): Pick<DefinitionSettings, (typeof LIMITS)[number]> {
  const limits = settings.limits ?? {};
  refuseUnknown(limits, LIMITS, `${place}, limits`, complaints);
  const read = (name: (typeof LIMITS)[number], most: number): number | undefined => {
    const wanted = limits[name];
    if (wanted === undefined) return undefined;
    if (Number.isSafeInteger(wanted) && (wanted as number) >= 1 && (wanted as number) <= most) return wanted as number;
    complaints.add(
      place,
      `limits.${name} is ${show(wanted)}.`,
      `Give it an integer from 1 to ${most}: a definition may only lower the limit of the module.`,
    );
    return undefined;
  };
  return {
    maxStageRuns: read('maxStageRuns', maxStageRuns) ?? maxStageRuns,
    startsPerMinute: read('startsPerMinute', startsPerMinute ?? MOST_STARTS) ?? startsPerMinute,
  };
}

function readActor({ place, settings }: PipelineSource, complaints: Complaints): DefinitionSettings['actor'] {
  const actor = settings.actor ?? 'system';
  const known = ACTORS.find((name) => name === actor);
  if (known) return known;
  complaints.add(place, `actor is ${show(actor)}.`, `Use 'system' or 'on_behalf_of'.`);
  return 'system';
}
