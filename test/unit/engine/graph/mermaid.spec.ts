import { fc } from '../../../support/properties.js';
import { graph, toMermaid } from '../../../../lib/engine/graph/index.js';
import { compilePipeline, PipelineFlow } from '../../../../lib/engine/definition/index.js';
import { DEFAULT_RETRY_POLICY } from '../../../../lib/engine/retry/index.js';
import { expenseApproval } from './graphs.js';

class Extract {}
class Sentiment {}

describe('toMermaid', () => {
  it('GRAPH-2: draws a graph', () => {
    expect(toMermaid(expenseApproval())).toBe(
      [
        'flowchart TD',
        '  n0{"large<br/>condition"}',
        '  n1[/"sign<br/>approval"/]',
        '  n2["pay<br/>acme.pay"]',
        '  n3((("paid<br/>end")))',
        '  n4((("no<br/>end")))',
        '  start((" ")) --> n0',
        '  n0 -->|"true"| n1',
        '  n0 -->|"false"| n2',
        '  n1 -->|"approved"| n2',
        '  n1 -->|"rejected"| n4',
        '  n2 --> n3',
        '',
      ].join('\n'),
    );
  });

  it('GRAPH-2: draws a pipeline in code', async () => {
    const { definition } = await compilePipeline(
      {
        place: 'Analysis',
        id: 'analysis',
        version: 1,
        settings: {},
        define: (flow) =>
          (flow as PipelineFlow)
            .pipe(Extract)
            .parallel({ mood: { stage: Sentiment, when: () => true }, sentiment: Sentiment }, { key: 'both' })
            .pipe(Extract, { key: 'again' }),
      },
      (stage) => ({
        id: stage === Extract ? 'extract' : 'sentiment',
        config: null,
        retry: null,
        timeoutMs: null,
        queue: null,
        hasCancelHook: false,
      }),
      { retry: DEFAULT_RETRY_POLICY, maxAttemptsCap: 10, maxStageRuns: 200, startsPerMinute: null },
    );
    expect(toMermaid(definition)).toBe(
      [
        'flowchart TD',
        '  n0["extract"]',
        '  subgraph n1["both"]',
        '    n1_0["mood<br/>sentiment<br/>when …"]',
        '    n1_1["sentiment"]',
        '  end',
        '  n2["again<br/>extract"]',
        '  start((" ")) --> n0',
        '  n0 --> n1',
        '  n1 --> n2',
        '',
      ].join('\n'),
    );
  });

  it('GRAPH-2: draws a draft, with edges to what is not there yet', () => {
    const draft = graph('draft').stage('a', 'acme.note', {}, 'b').build();
    expect(toMermaid(draft)).toContain('n1["b ?"]');
    expect(toMermaid({ ...draft, nodes: [], edges: [] })).toBe('flowchart TD\n');
    expect(toMermaid(graph('proto').stage('x', 'constructor').build())).toContain('n0["x<br/>constructor"]');
  });

  it('GRAPH-2: whatever names hold is text, never Mermaid or HTML', () => {
    const evil = [
      '"]; click n0 "javascript:alert(1)"',
      '<script>alert(1)</script>',
      '`md`',
      'end',
      '#quot;',
      'a\n  b --> c',
      '%%{init: {}}%%',
    ];
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...evil)), (name) => {
        const lines = toMermaid(
          graph('x')
            .stage(name, `t.${name}`, {}, { [`${name}!`]: name })
            .build(),
        ).split('\n');
        expect(lines).toHaveLength(5);
        expect(lines[1]).toMatch(/^ {2}n0\["[\p{L}\p{N} _.,:…#;-]*(<br\/>[\p{L}\p{N} _.,:…#;-]*)?"\]$/u);
        expect(lines[3]).toMatch(/^ {2}n0 -->\|"[\p{L}\p{N} _.,:…#;-]*"\| n0$/u);
      }),
    );
    expect(toMermaid(graph('x').end('"<b>"').build())).toContain('#34;#60;b#62;#34;');
    expect(toMermaid(graph('x').end('n'.repeat(500)).build()).length).toBeLessThan(200);
  });
});
