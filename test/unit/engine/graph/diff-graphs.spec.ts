import { diffGraphs, type Graph } from '../../../../lib/engine/graph/index.js';
import { everyType, expenseApproval } from './graphs.js';

const changed = (change: (graph: Graph) => void) => {
  const after = expenseApproval();
  change(after);
  return diffGraphs(expenseApproval(), after);
};

describe('diffGraphs', () => {
  it('GRAPH-2: a graph differs in nothing from itself, in whatever order its nodes and edges stand', () => {
    expect(diffGraphs(everyType(), everyType())).toEqual([]);
    const shuffled = everyType();
    shuffled.edges.reverse();
    shuffled.nodes.reverse();
    expect(diffGraphs(everyType(), shuffled)).toEqual([]);
  });

  it('GRAPH-2: says what was added, removed and changed, and where', () => {
    const changes = changed((graph) => {
      graph.name = 'Expenses';
      graph.settings!.limits = { maxStageRuns: 20 };
      graph.settings!.deadline = '5 days';
      graph.triggers = [{ id: 'hook', type: 'webhook', auth: 'token' }];
      graph.nodes[0]!.config = { if: 'input.amount >= 500' };
      graph.nodes.splice(1, 1);
      graph.nodes.push({ id: 'file', type: 'acme.note' });
      graph.edges = graph.edges.filter(({ from }) => from !== 'sign');
      graph.edges[0]!.to = 'file';
    });
    expect(changes.map(({ change, part, id, path }) => [change, part, id, path])).toEqual([
      ['changed', 'graph', null, '$.name'],
      ['changed', 'settings', null, '$.settings.limits.maxStageRuns'],
      ['added', 'settings', null, '$.settings.deadline'],
      ['added', 'trigger', 'hook', '$.triggers[0]'],
      ['removed', 'node', 'sign', '$.nodes[1]'],
      ['changed', 'node', 'large', '$.nodes[0].config.if'],
      ['added', 'node', 'file', '$.nodes[4]'],
      ['removed', 'edge', 'sign → approved', '$.edges[2]'],
      ['removed', 'edge', 'sign → rejected', '$.edges[3]'],
      ['changed', 'edge', 'large → true', '$.edges[0].to'],
    ]);
    expect(changes[5]).toMatchObject({ before: 'input.amount >= 1000', after: 'input.amount >= 500' });
    expect(changes[2]).not.toHaveProperty('before');
  });

  it('GRAPH-2: another first node is another start, and an edge says done or nothing', () => {
    const changes = changed((graph) => {
      graph.nodes.unshift(graph.nodes.pop()!);
      graph.edges[4] = { from: 'pay', outcome: 'done', to: 'paid' };
    });
    expect(changes).toEqual([
      { change: 'changed', part: 'graph', id: null, path: '$.start', before: 'large', after: 'no' },
    ]);
  });

  it('GRAPH-2: two edges of one name in a draft are both told', () => {
    const changes = changed((graph) => graph.edges.push({ from: 'pay', to: 'no' }));
    expect(changes.map(({ change, id }) => [change, id])).toEqual([['added', 'pay → done (2)']]);
  });
});
