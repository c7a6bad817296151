import type { Caller, ContextCapture } from '../../context/index.js';
import { cleanText, encodeJson } from '../../engine/codec/index.js';
import type { AuditEntry, JoinedTransaction, OwnerScope, RunRow } from '../../engine/ports/index.js';
import { AuthorizationDeniedError, RunNotFoundError } from '../../errors/index.js';
import type { DefinitionOperation, OperatedRun, RunOperation } from '../../interfaces/index.js';
import type { EnginePort } from '../engine-port.js';
import { subjectOf } from '../runs/read-views.js';
import { keptCaller } from './kept-caller.js';
import type { OperationGate } from './operation-gate.js';
import { LONGEST_REASON } from './reason-of.js';

export interface AskedOperation {
  readonly operation: RunOperation;
  readonly runId: string;
  readonly scope: OwnerScope;
  /** Why, as the caller says. */
  readonly reason: string | null;
  /** What else is kept of it: a node, a version, a name. */
  readonly details?: Details;
  readonly caller: Caller;
}

export interface AskedDefinition {
  readonly operation: DefinitionOperation;
  readonly definition: { readonly id: string; readonly version: number | null; readonly owner: string | null };
  readonly scope: OwnerScope;
  /** The caller's note. */
  readonly reason: string | null;
  readonly caller: Caller;
}

export interface AskedRequest {
  readonly ability: string;
  /** Null where the route names none. */
  readonly runId: string | null;
  /** Of the request. */
  readonly owner: string | null;
  readonly request: { readonly method: string; readonly path: string };
  readonly caller: Caller;
}

export type Details = Readonly<Record<string, unknown>>;

/** The entry of a call that was allowed, with what came of it. */
export type AllowedEntry = (outcome?: Details) => AuditEntry;

/** Lets operators' calls through, or not, and makes what is kept of them (AUTH-5, AUDIT-1). */
export class Operations {
  readonly #capture: Pick<ContextCapture, 'caller'>;
  readonly #gate: () => OperationGate;

  /** @param gate asked for once the engine is ready, not before */
  constructor(capture: Pick<ContextCapture, 'caller'>, gate: () => OperationGate) {
    this.#capture = capture;
    this.#gate = gate;
  }

  /** Who calls now: asked before the owner's context is entered, which may be one without him. */
  caller(): Caller {
    return this.#capture.caller();
  }

  /**
   * Asks whether a run may be changed like this. Nothing is written before, and nothing but the denial when it is denied: that is kept
   * at once, outside the caller's transaction, which is about to be rolled back. The entry of a call that is allowed has to be
   * written with its change.
   *
   * @throws RunNotFoundError for a run outside the scope, before anybody is asked; AuthorizationDeniedError
   */
  async permit(asked: AskedOperation, engine: EnginePort, transaction?: JoinedTransaction): Promise<AllowedEntry> {
    const { operation, runId, scope, reason, details, caller } = asked;
    const gate = this.#gate();
    const ability = gate.abilityOf(operation);
    const common = { id: engine.nextId(), action: operation, ability, ...keptCaller(caller, scope) };
    const told = { ...details, ...('all' in scope && { operator: true }) };
    if (gate.asks(ability)) {
      const row = await engine.store.findRun(runId, scope, transaction);
      if (!row) throw new RunNotFoundError({ runId });
      const { actor } = caller;
      const question = { kind: 'operation', operation, run: operatedRun(row), actor, ability, reason } as const;
      const answer = await gate.check(question, row.ownerId);
      if (!answer.allowed) {
        const given = reason === null ? told : { ...told, reason };
        const entry = { ...common, ...denial(answer), details: detailsText(given) };
        await engine.store.writeAudit([{ ...entry, runId, ownerId: row.ownerId }]);
        const what = `Operation ${operation} on run ${runId}`;
        throw new AuthorizationDeniedError({ what, operation, ability, reason: answer.reason });
      }
    }
    return (outcome) => ({ ...common, allowed: true, reason, details: detailsText({ ...told, ...outcome }) });
  }

  /**
   * Asks whether a graph may be changed like this; denials and entries as with `permit`.
   *
   * @throws AuthorizationDeniedError
   */
  async permitDefinition(
    { operation, definition, scope, reason, caller }: AskedDefinition,
    engine: EnginePort,
  ): Promise<AllowedEntry> {
    const gate = this.#gate();
    const ability = gate.abilityOf(operation);
    const { id, version, owner } = definition;
    const common = { id: engine.nextId(), action: operation, ability, ...keptCaller(caller, scope) };
    const told = { definition: id, ...(version !== null && { version }), ...('all' in scope && { operator: true }) };
    if (gate.asks(ability)) {
      const question = { kind: 'definition', operation, definition, actor: caller.actor, ability, reason } as const;
      const answer = await gate.check(question, owner);
      if (!answer.allowed) {
        const given = reason === null ? told : { ...told, reason };
        const entry = { ...common, ...denial(answer), details: detailsText(given) };
        await engine.store.writeAudit([{ ...entry, runId: null, ownerId: owner }]);
        const what = `Operation ${operation} on workflow ${id}`;
        throw new AuthorizationDeniedError({ what, operation, ability, reason: answer.reason });
      }
    }
    return (outcome) => ({ ...common, allowed: true, reason, details: detailsText({ ...told, ...outcome }) });
  }

  /**
   * Asks whether a route of the host's may be called, and keeps the answer at once, before it is.
   *
   * @throws RunNotFoundError for a run of another owner, before anybody is asked; AuthorizationDeniedError
   */
  async permitRequest({ ability, runId, owner, request, caller }: AskedRequest, engine: EnginePort): Promise<void> {
    const { actor } = caller;
    const row = runId === null ? null : await engine.store.findRun(runId, { owner });
    if (row === undefined) throw new RunNotFoundError({ runId: runId! });
    const run = row && operatedRun(row);
    const answer = await this.#gate().check({ kind: 'request', request, run, actor, ability }, owner);
    const what = `${request.method} ${request.path}`;
    const common = {
      id: engine.nextId(),
      action: 'request',
      ability,
      ...keptCaller({ ...caller, request: what }, { owner }),
    };
    const answered = answer.allowed ? { allowed: true, reason: null } : denial(answer);
    await engine.store.writeAudit([{ ...common, ...answered, details: null, runId, ownerId: owner }]);
    if (answer.allowed) return;
    throw new AuthorizationDeniedError({ what, operation: 'request', ability, reason: answer.reason });
  }

  /** What is kept of something that was not asked about: an operator had it done. */
  entry(action: string, scope: OwnerScope, id: string, details: Details): AuditEntry {
    const caller = keptCaller(this.#capture.caller(), scope);
    return { id, action, ability: null, ...caller, allowed: true, reason: null, details: detailsText(details) };
  }
}

export const operatedRun = (row: RunRow): OperatedRun => ({
  id: row.id,
  definition: row.definitionId,
  version: row.definitionVersion,
  status: row.status,
  owner: row.ownerId,
  subject: subjectOf(row),
});

const denial = ({ reason }: { readonly reason?: string }): Pick<AuditEntry, 'allowed' | 'reason'> => ({
  allowed: false,
  reason: reason === undefined ? null : cleanText(reason, LONGEST_REASON),
});

const detailsText = (details: Details): string | null =>
  Object.keys(details).length === 0 ? null : encodeJson(details);
