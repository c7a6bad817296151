import type { FoundProvider } from '../discovery/index.js';
import { isPlainText } from '../engine/codec/index.js';
import {
  changedRound,
  expireRound,
  MAX_APPROVER_ID_LENGTH,
  type ApprovalRound,
  type RoundAnswer,
} from '../engine/approvals/index.js';
import type { AuditEntry, LockedRound, WorkflowStore } from '../engine/ports/index.js';
import { closestName, RoundClosedError, UnknownApproversError } from '../errors/index.js';
import type { ApproverContext, ApproverResolver } from '../interfaces/index.js';
import type { ApprovalHost, RoundResult } from '../runtime/nodes/index.js';
import { findProvider } from './find-provider.js';
import type { RuntimeParts } from './runtime-parts.js';

/** Who approves: the resolvers of the host, and how people are known to them. */
export class Approvers {
  readonly #providers = new Map<string, FoundProvider>();

  constructor(private readonly parts: Pick<RuntimeParts, 'modules' | 'options' | 'resolver'>) {}

  /** Finds the resolvers. Once the providers are there. @throws InvalidOptionsError for a class that is no resolver of this app */
  prepare(): void {
    const { modules, options } = this.parts;
    for (const [name, resolver] of Object.entries(options.approvals.resolvers)) {
      if (typeof resolver !== 'function') continue;
      const wanted = { type: resolver, method: 'resolve(context)', path: `approvals.resolvers.${name}` };
      this.#providers.set(name, findProvider(wanted, modules));
    }
  }

  /** What nodes need of them, on an open store. */
  on(store: WorkflowStore): ApprovalHost {
    return {
      find: (place) => store.findRound(place),
      open: (place, make) => store.openRound(place, make),
      beside: (place) => store.findRoundBeside(place),
      change: (round, decide, audit) => change(store, round, decide, audit),
      expire: (round) => expire(store, round),
      resolve: (name, context) => this.resolve(name, context),
      actorId: (actor) => this.actorId(actor),
    };
  }

  /** What cannot be an id is nobody's. */
  actorId(actor: unknown): string | null {
    if (actor === null || actor === undefined) return null;
    const id: unknown = (this.parts.options.approvals.actorId ?? defaultId)(actor);
    return isPlainText(id, MAX_APPROVER_ID_LENGTH) ? id : null;
  }

  /** Asks a resolver of the app. @throws UnknownApproversError, what it throws */
  async resolve(name: string, context: ApproverContext): Promise<unknown> {
    const { options, resolver: handlers } = this.parts;
    const { resolvers } = options.approvals;
    if (!Object.hasOwn(resolvers, name)) {
      const known = Object.keys(resolvers);
      throw new UnknownApproversError({ approvers: name, suggestion: closestName(name, known), known });
    }
    const provider = this.#providers.get(name);
    const request = (): object => ({ runId: context.run.id, node: context.node });
    const resolver = provider
      ? await handlers.resolve<ApproverResolver>(provider, request)
      : (resolvers[name] as ApproverResolver);
    return resolver.resolve(context);
  }
}

async function expire(store: WorkflowStore, round: ApprovalRound): Promise<void> {
  await store.changeRound(round, { all: true }, (locked) => {
    const answer = expireRound(locked.round, locked.unended);
    return { change: answer.kind === 'changed' ? answer.change : null, answer: null };
  });
}

async function change(
  store: WorkflowStore,
  round: ApprovalRound,
  decide: (round: ApprovalRound) => RoundAnswer,
  audit: (result: RoundResult) => AuditEntry,
): Promise<RoundResult> {
  const decided = ({ round: found, now }: LockedRound) => {
    const answer = decide(found);
    const change = answer.kind === 'changed' ? answer.change : null;
    const error = answer.kind === 'refused' ? answer.error : null;
    const after = change ? changedRound(found, change, now) : found;
    return { change, answer: { round: after, repeated: answer.kind === 'repeated', error } };
  };
  const changed = await store.changeRound(round, { all: true }, decided, undefined, { audit });
  // It was there a moment ago, and goes with its run alone.
  if (changed) return changed.answer;
  return { round, repeated: false, error: new RoundClosedError({ round: round.id, status: 'cancelled' }) };
}

/** A text is its own id; of an object, its `id`. */
function defaultId(actor: unknown): unknown {
  const id: unknown = typeof actor === 'object' ? (actor as { readonly id?: unknown }).id : actor;
  return typeof id === 'number' && Number.isFinite(id) ? String(id) : id;
}
