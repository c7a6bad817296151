import type { CompiledDefinition, CompiledNode, CompiledStage } from '../definition/index.js';
import type { Graph, GraphNode } from './graph-schema.js';
import { DONE } from './outcome.js';

const MAX_LABEL_LENGTH = 80;

/** How a node of a type is drawn: what stands around its label. */
const SHAPES: Readonly<Record<string, readonly [string, string]>> = Object.freeze({
  condition: ['{', '}'],
  branch: ['{', '}'],
  loop: ['[[', ']]'],
  parallel: ['{{', '}}'],
  approval: ['[/', '/]'],
  wait: ['([', '])'],
  end: ['(((', ')))'],
});

/**
 * A definition as a flow chart for Mermaid: a graph, valid or not, or a pipeline in code. Whatever ids and names hold, it is
 * text in the drawing: nothing in it is read as Mermaid or HTML.
 *
 * @publicApi
 */
export function toMermaid(definition: Graph | CompiledDefinition): string {
  const lines = 'edges' in definition ? graphLines(definition) : pipelineLines(definition.nodes);
  return ['flowchart TD', ...lines.map((line) => `  ${line}`), ''].join('\n');
}

function graphLines({ nodes, edges, start }: Graph): string[] {
  const names = new Map<string, string>();
  const lines: string[] = [];
  const nameOf = (id: string): string => {
    let name = names.get(id);
    if (name === undefined) {
      names.set(id, (name = `n${names.size}`));
      // An edge of a draft may lead to a node that is not there yet.
      const node = nodes.find((one) => one.id === id);
      lines.push(`${name}${node === undefined ? `["${text(id)} ?"]` : drawn(node)}`);
    }
    return name;
  };
  nodes.forEach(({ id }) => nameOf(id));
  const first = start ?? nodes[0]?.id;
  if (first !== undefined) {
    const target = nameOf(first);
    lines.push(`start((" ")) --> ${target}`);
  }
  for (const { from, outcome = DONE, to } of edges) {
    const [left, right] = [nameOf(from), nameOf(to)];
    lines.push(`${left} -->${outcome === DONE ? '' : `|"${text(outcome)}"|`} ${right}`);
  }
  return lines;
}

function drawn({ id, name, type }: GraphNode): string {
  const [open, close] = Object.hasOwn(SHAPES, type) ? SHAPES[type]! : ['[', ']'];
  return `${open}"${label(name ?? id, type)}"${close}`;
}

function pipelineLines(nodes: readonly CompiledNode[]): string[] {
  const lines: string[] = [];
  nodes.forEach((node, at) => {
    if (!node.parallel) lines.push(`n${at}["${stageLabel(node.stages[0]!)}"]`);
    else {
      lines.push(`subgraph n${at}["${text(node.key)}"]`);
      node.stages.forEach((stage, branch) => lines.push(`  n${at}_${branch}["${stageLabel(stage)}"]`));
      lines.push('end');
    }
  });
  lines.push('start((" ")) --> n0');
  nodes.slice(1).forEach((_, at) => lines.push(`n${at} --> n${at + 1}`));
  return lines;
}

function stageLabel({ key, stage, when }: CompiledStage): string {
  return label(key, stage) + (when === null ? '' : '<br/>when …');
}

function label(name: string, type: string): string {
  return name === type ? text(name) : `${text(name)}<br/>${text(type)}`;
}

/** Letters, digits and a few signs stay; all else becomes a character reference of Mermaid, which it reads as text. */
function text(value: string): string {
  const characters = [...value.replace(/[\s\p{Cc}]+/gu, ' ')];
  const cut = characters.length > MAX_LABEL_LENGTH ? [...characters.slice(0, MAX_LABEL_LENGTH), '…'] : characters;
  return cut
    .map((character) => (/^[\p{L}\p{N} _.,:…-]$/u.test(character) ? character : `#${character.codePointAt(0)!};`))
    .join('');
}
