import { fc } from '../../../support/properties.js';
import { compileExpression, ExpressionValues } from '../../../../lib/engine/expression/index.js';
import { fillTemplate } from '../../../../lib/engine/templates/index.js';
import { celLiteral } from '../../../../lib/engine/templates/cel-literal.js';

const scope = { variables: ['input'] as const, outputs: false };

function valueOf(text: string): unknown {
  const compiled = compileExpression(text, scope, 'value');
  if (!('evaluate' in compiled)) throw new Error(JSON.stringify(compiled));
  return compiled.evaluate(new ExpressionValues({ input: {} }));
}

describe('fillTemplate', () => {
  it('GRAPH-3: whatever a parameter holds, its literal is that value and no expression', () => {
    for (const text of [
      'say "hi"',
      `it's`,
      '\\',
      '"+input.secret+"',
      '{{other}}',
      'a\nb\u2028\u0000',
      '😀',
      '${x} `y`',
    ]) {
      expect(valueOf(celLiteral(text))).toEqual({ ok: true, value: text });
    }
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
        expect(valueOf(celLiteral(text))).toEqual({ ok: true, value: text });
      }),
      { numRuns: 300 },
    );
    for (const value of [0, -5, 2.5, true, false, null, ['a"', 'b'], { 'a"b': 'c' }])
      expect(valueOf(celLiteral(value))).toEqual({ ok: true, value });
  });

  it('puts whole values in where they stand whole, literals into texts, and leaves the template as it was', () => {
    const graph = { nodes: [{ rule: { atLeast: { $parameter: 'n' } }, if: 'input.by == {{who}} && x > {{ n }}' }] };
    expect(fillTemplate({ graph }, { n: 2, who: 'a"b' }, 'mine')).toEqual({
      graph: { id: 'mine', nodes: [{ rule: { atLeast: 2 }, if: 'input.by == "a\\"b" && x > 2' }] },
    });
    expect(graph.nodes[0]!.rule).toEqual({ atLeast: { $parameter: 'n' } });
    expect(fillTemplate({ graph }, { n: 2 }, 'mine')).toEqual({ missing: ['who'] });
    // What a value holds is not looked at again.
    const again = { a: { $parameter: 'n' }, b: '{{n}}' };
    expect(fillTemplate({ graph: again }, { n: '{{n}}' }, 'i')).toEqual({
      graph: { id: 'i', a: '{{n}}', b: '"{{n}}"' },
    });
  });
});
