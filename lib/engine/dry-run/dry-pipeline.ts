import { decodeJson } from '../codec/json.js';
import type { CompiledDefinition, CompiledNode, CompiledStage } from '../definition/index.js';
import { askWhen, runFailure } from '../state/enter-node.js';
import { formatDuration } from '../time/index.js';
import type { DryFailure, DryGiven, DryHost } from './dry-given.js';
import type { DryProblem, DryRun, DryStep } from './dry-run.js';
import { shown } from './shown.js';

/** What one node hands to the next. */
type Handed = { readonly known: true; readonly value: unknown } | { readonly known: false; readonly from: string };

/** What a stage of a pipeline would do. */
interface StageLook {
  readonly step: Omit<DryStep, 'node' | 'type' | 'visit'>;
  readonly output: Handed;
  readonly skipped: boolean;
  readonly failure?: DryFailure;
  readonly assumes?: boolean;
}

/**
 * Walks through a pipeline, whose nodes follow each other in one line, and runs nothing.
 *
 * @param first the run's input as the first stage reads it
 */
export async function dryRunPipeline(
  definition: CompiledDefinition,
  first: unknown,
  given: DryGiven,
  host: DryHost,
): Promise<DryRun> {
  const path: DryStep[] = [];
  const problems: DryProblem[] = [];
  const { maxStageRuns } = definition.settings;
  const runInput = decodeJson(given.input, 'The input of a dry run');
  let handed: Handed = { known: true, value: first };
  // A `when` is asked with what is stored.
  let stored: Handed = { known: true, value: runInput };
  let assumed = false;
  const fail = (node: string | null, { code, message }: DryFailure): DryRun => {
    problems.push({ node, code, message });
    return { ends: 'failed', path, problems };
  };
  for (const node of definition.nodes) {
    const actual = path.length + node.stages.length;
    if (actual > maxStageRuns) {
      const where = `Node ${node.key} of ${definition.id}`;
      const params = { where, actual, limit: 'maxStageRuns', value: maxStageRuns };
      return fail(node.key, runFailure('STEP_LIMIT_EXCEEDED', params, node.key));
    }
    const looks: (readonly [CompiledStage, StageLook])[] = [];
    for (const stage of node.stages) {
      const look = await lookAt(stage, { handed, stored, runInput, given, host });
      path.push({ node: stage.key, type: stage.stage, visit: 1, ...look.step, ...(assumed && { assumed: true }) });
      if (look.failure) return fail(stage.key, look.failure);
      looks.push([stage, look]);
    }
    assumed ||= looks.some(([, { assumes }]) => assumes === true);
    handed = stored = handedOn(node, looks);
  }
  return { ends: 'completed', ...(handed.known && { output: handed.value ?? null }), path, problems };
}

interface At {
  readonly handed: Handed;
  readonly stored: Handed;
  readonly runInput: unknown;
  readonly given: DryGiven;
  readonly host: DryHost;
}

async function lookAt(stage: CompiledStage, at: At): Promise<StageLook> {
  const { handed, stored, runInput, given, host } = at;
  const unknown: string[] = [];
  let assumes = false;
  if (stage.when && stored.known) {
    const answer = askWhen(stage, { input: stored.value, run: { id: 'dry-run', input: runInput } });
    if (answer === false) {
      const step = { would: 'Is skipped, since its `when` says no.', outcome: 'skipped' };
      return { step, output: { known: true, value: undefined }, skipped: true };
    }
    if (answer !== true) return failed(`Fails: ${answer.message}`, answer);
  } else if (stage.when) {
    unknown.push(`whether its \`when\` lets it run: ${whyUnknown(stored)}; it is assumed`);
    assumes = true;
  }
  if (given.world.refused !== null) return failed('Fails before it begins.', given.world.refused);
  const type = host.stage(stage.stage);
  let input: unknown;
  if (!handed.known) unknown.push(`its input: ${whyUnknown(handed)}`);
  else {
    input = handed.value;
    const accepted = type ? await type.accept(input, stage.key) : { value: input };
    if ('failure' in accepted) return failed('Fails: its input does not fit its schema.', accepted.failure, input);
    input = accepted.value;
  }
  const said = given.outputs.has(stage.key);
  if (!said) unknown.push('what it gives: it was not run');
  const asks = type?.ability ? `, after "${type.ability}" was allowed` : '';
  const limit = stage.timeoutMs === null ? '' : `, within ${formatDuration(stage.timeoutMs)}`;
  const gives = said ? `, and gives ${shown(given.outputs.get(stage.key))}` : '';
  const step = {
    would: `Runs the stage ${stage.stage}${asks}${limit}${gives}.`,
    outcome: given.outcomes.get(stage.key) ?? 'done',
    ...(input !== undefined && { given: input }),
    ...(unknown.length > 0 && { unknown }),
  };
  const output: Handed = said
    ? { known: true, value: given.outputs.get(stage.key) }
    : { known: false, from: stage.key };
  return { step, output, skipped: false, assumes };
}

function failed(would: string, failure: DryFailure, input?: unknown): StageLook {
  const step = { would, ...(input !== undefined && { given: input }) };
  return { step, output: { known: true, value: undefined }, skipped: false, failure };
}

const whyUnknown = (handed: Handed): string =>
  handed.known ? '' : `what ${handed.from} gives is not known; say it in outputs`;

/** The output of a node: of parallel stages an object by key, what was skipped being left out. */
function handedOn(node: CompiledNode, looks: readonly (readonly [CompiledStage, StageLook])[]): Handed {
  const open = looks.find(([, { output }]) => !output.known);
  if (open) return open[1].output;
  const valueOf = ({ output }: StageLook): unknown => (output.known ? output.value : undefined);
  if (!node.parallel) return { known: true, value: valueOf(looks[0]![1]) };
  const taken = looks.filter(([, { skipped }]) => !skipped);
  return { known: true, value: Object.fromEntries(taken.map(([{ key }, look]) => [key, valueOf(look)])) };
}
