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
      maxStageRuns: readMaxStageRuns(source, defaults, complaints),
      deadlineMs: readPositiveMs(settings.deadline, 'deadline', place, complaints) ?? null,
      actor: readActor(source, complaints),
    },
  };
}

function readMaxStageRuns(
  { place, settings }: PipelineSource,
  { maxStageRuns: most }: PipelineDefaults,
  complaints: Complaints,
): number {
  const limits = settings.limits ?? {};
  refuseUnknown(limits, ['maxStageRuns'], `${place}, limits`, complaints);
  const wanted = limits.maxStageRuns;
  if (wanted === undefined) return most;
  if (Number.isSafeInteger(wanted) && (wanted as number) >= 1 && (wanted as number) <= most) return wanted as number;
  complaints.add(
    place,
    `limits.maxStageRuns is ${show(wanted)}.`,
    `Give it an integer from 1 to ${most}: a definition may only lower the limit of the module.`,
  );
  return most;
}

function readActor({ place, settings }: PipelineSource, complaints: Complaints): DefinitionSettings['actor'] {
  const actor = settings.actor ?? 'system';
  const known = ACTORS.find((name) => name === actor);
  if (known) return known;
  complaints.add(place, `actor is ${show(actor)}.`, `Use 'system' or 'on_behalf_of'.`);
  return 'system';
}
