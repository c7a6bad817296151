import type { Expression } from '../../engine/expression/index.js';
import type { CompiledGraph, CompiledGraphNode } from '../../engine/graph/index.js';
import type { TurnLimits } from '../../engine/walk/index.js';
import type { StageContext } from '../../interfaces/index.js';
import type { ApprovalHost } from './approval-host.js';
import type { NodeValues } from './node-values.js';
import type { SubjectWriter } from './subject-writer.js';

/** What a node of the engine's own is given when a worker is at it. */
export interface NodeWork {
  readonly graph: CompiledGraph;
  readonly node: CompiledGraphNode;
  /** As a stage body has it: durable calls, and all else. */
  readonly ctx: StageContext;
  /** Stored id of the run's owner. */
  readonly owner: string | null;
  /** What its expressions are evaluated on. */
  readonly values: NodeValues;
  readonly host: NodeHost;
  /** Who started the run; null = nobody. */
  readonly startedBy: unknown;
}

/** What nodes need of the engine. */
export interface NodeHost {
  readonly limits: TurnLimits;
  /** Stores an event for the owner of the run that is at work. The same `messageId` again: nothing, so that it may be repeated. */
  readonly emit: (event: NodeEvent) => Promise<unknown>;
  readonly subjects: SubjectWriter;
  readonly approvals: ApprovalHost;
  /** The database's clock, ISO 8601. */
  readonly now: () => Promise<string>;
}

export interface NodeEvent {
  readonly key: string;
  readonly payload: unknown;
  readonly subject: { readonly type: string; readonly id: string } | null;
  readonly messageId: string;
}

/** Does the work of a node. Returns its output, or `ctx.outcome(…)`. */
export type NodeBody = (work: NodeWork) => Promise<unknown>;

/** A node type of the engine's own, where a worker is needed for it. */
export interface BuiltInNode {
  readonly execute: NodeBody;
  /** Whether it touches anything beyond its own run: then the authorizer is asked first. */
  readonly sideEffect: boolean;
}

/** The expression at this place of the node's config. It is there: the check of the graph has compiled it. */
export function expressionAt({ node }: Pick<NodeWork, 'node'>, place: string): Expression {
  return node.expressions.get(place)!;
}
