import { decodeJson } from '../../engine/codec/index.js';
import type { ClaimedJob } from '../../engine/ports/index.js';
import { nodeOutput } from '../../engine/state/node-output.js';
import { AmbiguousStageError, OutputMissingError } from '../../errors/index.js';
import type { DefinitionSource } from './definition-source.js';
import type { ServedStage } from './served-stages.js';

/** Told apart from every output, undefined and null included (fault A13). */
const MISSING = Symbol('missing');

/** What `ctx.require` and `ctx.optional` answer from (RUN-3): outputs of earlier nodes, decoded anew for each caller. */
export class EarlierOutputs {
  constructor(
    private readonly job: ClaimedJob,
    private readonly served: ServedStage,
    private readonly definitions: DefinitionSource,
  ) {}

  /** @throws OutputMissingError, AmbiguousStageError */
  require(wanted: unknown): unknown {
    const output = this.#find(wanted);
    if (output !== MISSING) return output;
    throw new OutputMissingError({
      wanted: this.#nameOf(wanted),
      where: this.served.stage.key,
      known: [...new Set(this.#settled().flatMap(({ key, status }) => (status === 'COMPLETED' ? [key] : [])))],
    });
  }

  /** @throws AmbiguousStageError */
  optional(wanted: unknown): unknown {
    const output = this.#find(wanted);
    return output === MISSING ? undefined : output;
  }

  #find(wanted: unknown): unknown {
    const key = typeof wanted === 'string' ? wanted : this.#keyOfClass(wanted);
    // Of several visits of a node of a graph the newest that came to something, as `output("node")` has it.
    const stageRun = this.#settled().findLast((candidate) => candidate.key === key && candidate.status === 'COMPLETED');
    return stageRun ? decodeJson(stageRun.output ?? 'null', `The output of ${key}`) : this.#nodeOutput(key);
  }

  /** The key of a parallel group stands for the object of its branches. */
  #nodeOutput(key: string | undefined): unknown {
    const { compiled, node: own } = this.served;
    const node = compiled.nodes.find((candidate) => candidate.key === key && candidate.index < own.index);
    if (!node?.parallel) return MISSING;
    const output = nodeOutput(node, this.job.earlier);
    return output === undefined ? MISSING : decodeJson(output, `The output of ${key}`);
  }

  /** Branches beside this one don't count, ended or not: which of them are seen would depend on chance. */
  #settled(): ClaimedJob['earlier'] {
    return this.job.earlier.filter(({ node }) => node !== this.served.node.key);
  }

  #keyOfClass(stageClass: unknown): string | undefined {
    const id = this.definitions.stageIdOf(stageClass);
    const keys = this.served.compiled.nodes.flatMap((node) =>
      node.stages.filter(({ stage }) => stage === id).map(({ key }) => key),
    );
    if (keys.length > 1) throw new AmbiguousStageError({ stage: this.#nameOf(stageClass), nodes: keys });
    return keys[0];
  }

  #nameOf(wanted: unknown): string {
    if (typeof wanted === 'string') return wanted;
    return this.definitions.stageIdOf(wanted) ?? (typeof wanted === 'function' ? wanted.name : String(wanted));
  }
}
