import { chooseRetryPolicy, type CompiledRetryPolicy } from '../retry/index.js';
import type { CompiledStage } from './compiled-definition.js';
import type { Complaints } from './complaints.js';
import { readPositiveMs, readQueue, readRetry, refuseUnknown, show } from './common-options.js';
import type { DeclaredNode, DeclaredStage } from './pipeline-flow.js';
import type { PipelineDefaults } from './pipeline-source.js';
import { checkConfig } from './stage-config.js';
import type { StageLookup, StageTraits } from './stage-traits.js';

/** A stage of a pipeline, checked, all but its key. `stage` is undefined where the class is no usable stage. */
export interface CheckedStage extends Omit<CompiledStage, 'key' | 'stage'> {
  readonly stage: string | undefined;
  readonly canonicalConfig: string;
}

export interface StageCheck {
  readonly place: string;
  readonly lookup: StageLookup;
  readonly defaults: PipelineDefaults;
  /** The definition's own policy. */
  readonly settingsRetry: CompiledRetryPolicy | undefined;
  readonly complaints: Complaints;
}

const OPTIONS = ['config', 'when', 'retry', 'timeout', 'queue'];

/** Checks one stage with its options, complaining about everything that is wrong with it. */
export async function checkDeclaredStage(
  declared: DeclaredStage,
  node: DeclaredNode,
  at: number,
  check: StageCheck,
): Promise<CheckedStage> {
  const { defaults, settingsRetry, complaints } = check;
  const { options } = declared;
  const place = `${check.place}, node ${at + 1} ${nameOf(declared, node)}`;
  const found = check.lookup(declared.stage);
  if (found === undefined) complainUnknown(declared.stage, place, complaints);
  const traits: StageTraits | undefined = found === 'faulty' ? undefined : found;

  refuseUnknown(options, node.parallel ? ['stage', ...OPTIONS] : ['key', ...OPTIONS], place, complaints);
  // Without the stage there is no schema, and no telling whether its config is right.
  const config = traits && (await checkConfig(options.config, traits.config, place, complaints));
  const retry = readRetry(options.retry, place, complaints);
  return {
    stage: traits?.id,
    config: config?.value,
    canonicalConfig: config?.canonical ?? 'null',
    when: readWhen(options.when, place, complaints),
    retry: chooseRetryPolicy({
      node: retry,
      settings: settingsRetry,
      stage: traits?.retry ?? undefined,
      moduleDefault: defaults.retry,
      cap: defaults.maxAttemptsCap,
    }),
    timeoutMs: readPositiveMs(options.timeout, 'timeout', place, complaints) ?? traits?.timeoutMs ?? null,
    queue: readQueue(options.queue, place, complaints) ?? traits?.queue ?? null,
    hasCancelHook: traits?.hasCancelHook ?? false,
  };
}

function nameOf({ stage, key }: DeclaredStage, { parallel }: DeclaredNode): string {
  if (parallel || key !== undefined) return show(key);
  return typeof stage === 'function' ? stage.name : '';
}

function complainUnknown(stage: unknown, place: string, complaints: Complaints): void {
  if (stage === undefined) {
    complaints.add(
      place,
      'the stage is undefined.',
      'Its import is circular, most likely: move the class to a file of its own.',
    );
  } else if (typeof stage === 'function') {
    complaints.add(
      place,
      `${stage.name || 'the class'} is no stage of this app.`,
      'Decorate it with @Stage and list it in the providers of a module.',
    );
  } else {
    complaints.add(place, `the stage is ${show(stage)}.`, 'Give the class itself.');
  }
}

function readWhen(when: unknown, place: string, complaints: Complaints): CompiledStage['when'] {
  if (when === undefined) return null;
  if (typeof when !== 'function') {
    complaints.add(place, `when is ${show(when)}.`, 'Give a function that answers true or false.');
    return null;
  }
  // A Promise is neither true nor false, and what follows is decided inside a transaction that waits for nobody.
  if (when.constructor.name === 'AsyncFunction') {
    complaints.add(place, 'when is an async function.', 'Decide in a stage before, and look at its output here.');
  }
  return when as CompiledStage['when'];
}
