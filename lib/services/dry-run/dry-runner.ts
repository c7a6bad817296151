import type { ContextRunner } from '../../context/index.js';
import { decodeJson, encodeJson } from '../../engine/codec/index.js';
import {
  dryRunGraph,
  dryRunPipeline,
  readsOf,
  type DryFailure,
  type DryGiven,
  type DryHost,
  type DryRun,
  type DryWorld,
} from '../../engine/dry-run/index.js';
import type { CompiledGraph } from '../../engine/graph/index.js';
import type { ApproverContext } from '../../interfaces/index.js';
import type { SubjectName } from '../../engine/ports/index.js';
import { InvalidInputError, SubjectMissingError, WorkflowError } from '../../errors/index.js';
import type { RuntimeStageType } from '../../runtime/execution/definition-source.js';
import type { SubjectSource } from '../../runtime/execution/subject-source.js';
import type { EnginePort, StartableDefinition } from '../engine-port.js';
import type { ReadStart, RunPreparer } from '../start/run-preparer.js';
import { checkDryRun, type ReadDryRun } from './dry-run-options.js';

/** A definition as a dry run needs it; of a graph that is no version yet with version 0. */
export interface DryDefinition extends Pick<StartableDefinition, 'inputSchema'> {
  readonly compiled: Pick<StartableDefinition['compiled'], 'id' | 'version' | 'settings'>;
  readonly graph?: CompiledGraph | undefined;
}

/** Who approves. Resolvers of the app only read. */
export interface DryApprovers {
  resolve(name: string, context: ApproverContext): Promise<unknown>;
  actorId(actor: unknown): string | null;
}

export interface DryRunnerParts {
  readonly preparer: RunPreparer;
  readonly contexts: Pick<ContextRunner, 'run'>;
  readonly subjects: SubjectSource;
  readonly approvers: DryApprovers;
  readonly stageType: (id: string) => RuntimeStageType | undefined;
  /** Whom runs of `actor: 'system'` act as. */
  readonly systemActor: () => unknown;
  readonly limits: { readonly maxOutputBytes: number; readonly maxLoopIterations: number };
}

/** Steps that an answer shows at most. */
const MAX_STEPS = 1_000;

/**
 * Says what a run would do (RUN-7), in the context that its stages would have: owner, actor and subject are looked at as a worker does,
 * once, before anything else. Nothing is written, and no stage is called; resolvers of subjects and approvers are asked.
 */
export class DryRunner {
  readonly #parts: DryRunnerParts;

  constructor(parts: DryRunnerParts) {
    this.#parts = parts;
  }

  /** Reads whose the run would be. @throws as a start */
  read({ start }: ReadDryRun, where: string): Promise<ReadStart> {
    return this.#parts.preparer.read(start, where);
  }

  /** @throws as a start; InvalidOptionsError for what is said of nodes that there are not; what loading owner or subject throws */
  async run(
    definition: DryDefinition,
    input: unknown,
    read: ReadDryRun,
    start: ReadStart,
    { store, nextId, where }: Pick<EnginePort, 'store' | 'nextId'> & { readonly where: string },
  ): Promise<DryRun> {
    const { compiled, graph } = definition;
    const { preparer, contexts, systemActor, limits } = this.#parts;
    checkDryRun(read, graph ?? (compiled as StartableDefinition['compiled']), where);
    const { ownerId, actor: startedBy } = start.captured;
    const actor = compiled.settings.actor === 'system' ? ((await systemActor()) ?? null) : startedBy;
    const now = new Date(await store.now());
    const run = { id: nextId(), definition: compiled.id, version: compiled.version };
    return contexts.run({ ownerId, actor, startedBy, run, trace: null }, async (owner) => {
      const { text, parsed } = await preparer.check({ definition, input, start });
      const reads = graph ? readsOf(graph) : new Set<string>();
      const { loaded, ...subject } = await this.#look(start.settings.subject, ownerId, reads.has('subject'));
      const given: DryGiven = {
        input: text,
        world: {
          subjectName: start.settings.subject,
          ...subject,
          owner: reads.has('owner') ? plain(owner, 'The owner') : null,
          actor: reads.has('actor') ? plain(actor, 'The actor') : null,
          now,
          requester: this.#parts.approvers.actorId(startedBy),
        },
        outputs: read.outputs,
        outcomes: read.outcomes,
        limits: { ...limits, maxSteps: MAX_STEPS },
      };
      const info = { ...run, subject: start.settings.subject, input: decodeJson(text, 'The input of a dry run') };
      const host = this.#host({ run: info, owner, requester: startedBy, subject: () => Promise.resolve(loaded) });
      return graph
        ? dryRunGraph(graph, given, host)
        : dryRunPipeline(compiled as StartableDefinition['compiled'], parsed, given, host);
    });
  }

  /** As a worker looks at it before each attempt. A run that were started now would not know it if it is another's (OWNER-3). */
  async #look(
    name: SubjectName | null,
    ownerId: string | null,
    isRead: boolean,
  ): Promise<Pick<DryWorld, 'subject' | 'refused' | 'unreadable'> & { readonly loaded: object | null }> {
    const nothing = { subject: null, refused: null, unreadable: null, loaded: null };
    if (name === null) return nothing;
    const { subjects } = this.#parts;
    const loaded = await subjects.load(name, ownerId);
    if (loaded === undefined) return { ...nothing, unreadable: `nobody loads subjects of type "${name.type}"` };
    if (loaded.kind !== 'found') {
      const { code, message } = new SubjectMissingError({ subject: `${name.type} ${name.id}` });
      return { ...nothing, refused: { code, message } };
    }
    const seen = { ...nothing, loaded: loaded.subject };
    if (!isRead) return seen;
    return { ...seen, subject: plain(subjects.readable?.(name, loaded.subject) ?? loaded.subject, 'The subject') };
  }

  #host(context: Omit<ApproverContext, 'node'>): DryHost {
    const { stageType, approvers } = this.#parts;
    return {
      stage: (id) => {
        const type = stageType(id);
        return (
          type && { ability: type.ability, outcomes: type.outcomes, accept: (input, key) => accept(type, input, key) }
        );
      },
      approvers: async (name, node) => {
        try {
          return { given: await approvers.resolve(name, { ...context, node }) };
        } catch (error) {
          // A run would try again: whether it is better then nobody knows.
          return { why: error instanceof Error ? error.message : String(error) };
        }
      },
    };
  }
}

async function accept(
  { inputSchema }: RuntimeStageType,
  input: unknown,
  key: string,
): Promise<{ readonly value: unknown } | { readonly failure: DryFailure }> {
  if (!inputSchema) return { value: input };
  const result = await inputSchema.safeParseAsync(input);
  if (result.success) return { value: result.data };
  const { code, message }: WorkflowError = new InvalidInputError({ what: `stage ${key}`, issues: result.error.issues });
  return { failure: { code, message } };
}

/** As JSON has it, which is what expressions see. */
function plain(value: unknown, what: string): unknown {
  return value === undefined || value === null ? null : decodeJson(encodeJson(value, { what }), what);
}
