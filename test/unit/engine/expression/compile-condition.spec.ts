import { compileCondition, EXPRESSION_LIMITS } from '../../../../lib/engine/expression/index.js';
import { InvalidWhereError } from '../../../../lib/errors/index.js';

function refusalOf(text: unknown): InvalidWhereError {
  try {
    compileCondition(text as string);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidWhereError);
    return error as InvalidWhereError;
  }
  throw new Error(`${String(text)} was not refused`);
}

describe('compileCondition', () => {
  it('WAIT-1: the same text is compiled once, and two texts are two conditions', () => {
    expect(compileCondition('event.a == 1')).toBe(compileCondition('event.a == 1'));
    expect(compileCondition('event.a == 1')).not.toBe(compileCondition('event.a == 2'));
    expect(compileCondition('event.a == 1').text).toBe('event.a == 1');
  });

  it('WAIT-1: only the last texts are kept, those in use the longest', () => {
    const first = compileCondition('event.kept');
    const other = compileCondition('event.dropped');
    for (let n = 0; n < 499; n++) compileCondition(`event.n == ${n}`);
    expect(compileCondition('event.kept')).not.toBe(first);
    const used = compileCondition('event.kept');
    for (let n = 500; n < 1_100; n++) {
      compileCondition(`event.n == ${n}`);
      expect(compileCondition('event.kept')).toBe(used);
    }
    expect(compileCondition('event.dropped')).not.toBe(other);
  });

  it.each([
    ['event.n =', '9', 'Unexpected character'],
    ['event.n == 1 &&\n  event.', '2:9', 'IDENTIFIER'],
    ['event.n == 1 &&\n  foo > 1', '2:3', 'foo'],
    ['1 +', '4', 'EOF'],
    ['"a" == 1', '1', 'string == int'],
    ['event.s.matches("(a+)+$")', '9', 'no matches()'],
    ['now() < 5', '1', 'no now()'],
    ['event.a.split(",") == []', '9', 'no split()'],
    ['cel.bind(x, event.a + event.a, x == [])', '5', 'no bind()'],
    ['event.n == 9007199254740993', '12', '2^53'],
    ['event.n > -9007199254740993', '12', '2^53'],
    ['size(event.a, 2) == 1', '1', 'size() takes 0 or 1 arguments, not 2'],
    ['duration(event.d) > duration("1h")', '1', 'written out'],
    ['event.n == "\\q"', '13', 'escape'],
  ])('STEP-4: %j is refused at %s', (text, place, message) => {
    const error = refusalOf(text);
    expect(error.params).toMatchObject({ where: text, place, message: expect.stringContaining(message) });
    expect(error.message).toContain(`not valid at ${place}: `);
    expect(error.retryable).toBe(false);
  });

  it.each<[string, unknown, string]>([
    ['no text', 5, 'it is no text, but number'],
    ['null', null, 'it is no text, but null'],
    ['nothing', '', 'it is empty'],
    ['blanks', ' \n', 'it is empty'],
    ['U+0000', 'event.a == "\0"', 'U+0000'],
    ['half of a character', 'event.a == "\ud800"', 'half of a character'],
    ['a number', 'size(event.a)', 'it gives int, not true or false'],
    ['a text', '"event.a"', 'it gives string, not true or false'],
    [
      'a text that is too long',
      `event.a == "${'x'.repeat(EXPRESSION_LIMITS.maxLength)}"`,
      '2013 characters, over 2000',
    ],
    ['too many parts', Array(300).fill('1').join('=='), 'maxAstNodes (500)'],
    ['too many levels', `${'('.repeat(60)}event${')'.repeat(60)}`, 'maxDepth (50)'],
    ['loops that never end', nested(9, '[1,2,3,4,5,6]'), 'its loops take too long'],
  ])('GRAPH-3: %s is refused', (_, text, message) => {
    expect(refusalOf(text).params.message).toContain(message);
  });

  it('GRAPH-3: a refusal shows the beginning of a long text, and stays small', () => {
    const { params } = refusalOf(`event.${'a'.repeat(1_900)} = 1`);
    expect(params.where).toHaveLength(200);
    expect(params.message.length).toBeLessThanOrEqual(1_000);
  });
});

/** `[…].all(a, […].all(b, … true))` */
function nested(levels: number, list: string): string {
  const names = [...'abcdefghijklm'].slice(0, levels);
  return `${names.map((name) => `${list}.all(${name}, `).join('')}true${')'.repeat(levels)}`;
}
