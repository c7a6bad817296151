import type { z } from 'zod';
import { decodeJson, encodeJson } from '../codec/json.js';
import type { Graph, GraphEdge, GraphNode, GraphSettings, GraphTrigger } from './graph-schema.js';
import type { BuiltInTypeName, nodeSchemas, stageNode } from './node-schemas.js';
import { DONE } from './outcome.js';

type NodeOf<Type extends BuiltInTypeName> = z.input<(typeof nodeSchemas)[Type]>;
type ConfigOf<Type extends BuiltInTypeName> = NonNullable<NodeOf<Type>['config']>;
type OptionsOf<Type extends BuiltInTypeName> = Omit<NodeOf<Type>, 'id' | 'type' | 'config'>;
/** The outcomes that a type always has, and those that it may have. */
type WaysOf<Always extends string, Sometimes extends string = never> = Readonly<Record<Always, string>> &
  Readonly<Partial<Record<Sometimes | 'skipped', string>>>;
type StageOptions = Omit<z.input<typeof stageNode>, 'id' | 'type'>;

/** Where a node leads: the next node; or one for each outcome. Left out: the node that is added next. */
export type GraphWays = string | Readonly<Record<string, string>>;

/**
 * Writes a graph as code: the same JSON that anybody else writes. Checks nothing: `validateGraph` does, of every graph.
 *
 * A node that says nothing of where it leads goes on to the node that is added after it.
 *
 * @publicApi
 */
export class GraphBuilder {
  readonly #head: Omit<Graph, 'nodes' | 'edges' | 'triggers'>;
  readonly #triggers: GraphTrigger[] = [];
  readonly #nodes: { readonly node: GraphNode; readonly ways: GraphWays | undefined }[] = [];

  constructor(id: string, name?: string) {
    this.#head = { id, ...(name === undefined ? {} : { name }) };
  }

  describe(description: string): this {
    this.#head.description = description;
    return this;
  }

  /** What a run's input must look like, as JSON Schema. */
  input(schema: NonNullable<Graph['input']>): this {
    this.#head.input = schema;
    return this;
  }

  settings(settings: GraphSettings): this {
    this.#head.settings = settings;
    return this;
  }

  /** The node that a run begins with, where that is not the first one. */
  start(node: string): this {
    this.#head.start = node;
    return this;
  }

  trigger(trigger: GraphTrigger): this {
    this.#triggers.push(trigger);
    return this;
  }

  /** Two ways by an expression. */
  condition(id: string, expression: string, ways: WaysOf<'true' | 'false'>, options?: OptionsOf<'condition'>): this {
    return this.#add('condition', id, { if: expression }, ways, options);
  }

  /** The first way whose expression holds, or `else`. */
  branch(id: string, cases: ConfigOf<'branch'>['cases'], ways: GraphWays, options?: OptionsOf<'branch'>): this {
    return this.#add('branch', id, { cases }, ways, options);
  }

  setField(id: string, field: string, value: unknown, ways?: GraphWays, options?: OptionsOf<'set_field'>): this {
    return this.#add('set_field', id, { field, value }, ways, options);
  }

  /** Repeats what follows `each`, which comes back to the loop; then goes on by `done`. */
  loop(id: string, config: ConfigOf<'loop'>, ways: WaysOf<'each' | 'done'>, options?: OptionsOf<'loop'>): this {
    return this.#add('loop', id, config, ways, options);
  }

  /** Branches at the same time, each of which comes back to the node; then goes on by `done`. */
  parallel(id: string, config: ConfigOf<'parallel'>, ways: GraphWays, options?: OptionsOf<'parallel'>): this {
    return this.#add('parallel', id, config, ways, options);
  }

  wait(id: string, config: ConfigOf<'wait'>, ways?: GraphWays, options?: OptionsOf<'wait'>): this {
    return this.#add('wait', id, config, ways, options);
  }

  approval(
    id: string,
    config: ConfigOf<'approval'>,
    ways: WaysOf<'approved' | 'rejected', 'expired'> & Readonly<Record<string, string>>,
    options?: OptionsOf<'approval'>,
  ): this {
    return this.#add('approval', id, config, ways, options);
  }

  startWorkflow(
    id: string,
    config: ConfigOf<'start_workflow'>,
    ways?: GraphWays,
    options?: OptionsOf<'start_workflow'>,
  ): this {
    return this.#add('start_workflow', id, config, ways, options);
  }

  emitEvent(id: string, config: ConfigOf<'emit_event'>, ways?: GraphWays, options?: OptionsOf<'emit_event'>): this {
    return this.#add('emit_event', id, config, ways, options);
  }

  transition(id: string, config: ConfigOf<'transition'>, ways?: GraphWays, options?: OptionsOf<'transition'>): this {
    return this.#add('transition', id, config, ways, options);
  }

  /** A stage of the host's: `type` is the id of its `@Stage`. */
  stage(id: string, type: string, options: StageOptions = {}, ways?: GraphWays): this {
    this.#nodes.push({ node: { id, type, ...options }, ways });
    return this;
  }

  end(id: string, config?: ConfigOf<'end'>, options?: OptionsOf<'end'>): this {
    return this.#add('end', id, config, {}, options);
  }

  /**
   * The graph as JSON, a copy.
   *
   * @throws InvalidOutputError where something in it is no JSON
   */
  build(): Graph {
    const graph: Graph = {
      ...this.#head,
      ...(this.#triggers.length === 0 ? {} : { triggers: this.#triggers }),
      nodes: this.#nodes.map(({ node }) => node),
      edges: this.#nodes.flatMap(({ node, ways }, at) => edgesOf(node.id, ways ?? this.#nodes[at + 1]?.node.id)),
    };
    return decodeJson(encodeJson(graph, { what: `Graph ${graph.id}` })) as Graph;
  }

  #add(
    type: BuiltInTypeName,
    id: string,
    config: unknown,
    ways: GraphWays | undefined,
    options: object | undefined,
  ): this {
    const node = { id, type, ...(config === undefined ? {} : { config }), ...options } as GraphNode;
    this.#nodes.push({ node, ways });
    return this;
  }
}

function edgesOf(from: string, ways: GraphWays | undefined): GraphEdge[] {
  if (ways === undefined) return [];
  if (typeof ways === 'string') return [{ from, to: ways }];
  return Object.entries(ways).map(([outcome, to]) => (outcome === DONE ? { from, to } : { from, outcome, to }));
}

/**
 * Begins a graph.
 *
 * @example graph('greet').stage('hello', 'acme.greet').end('done').build()
 * @publicApi
 */
export function graph(id: string, name?: string): GraphBuilder {
  return new GraphBuilder(id, name);
}
