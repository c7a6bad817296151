import { RowSet } from '../../../lib/persistence/dialects/postgres/row-set.js';

describe('RowSet', () => {
  const rows = new RowSet<{ a: string | null; n: number | null }>({ a: 'text', n: 'int' });

  it('FAULT A6: writes any text as the data it is', () => {
    const texts = ['', 'NULL', '{x,y}', 'a "quoted" \\ word', '\\u0000', 'ü\n', ' '];
    const [literal] = rows.values(texts.map((a) => ({ a, n: 1 })));
    expect(literal).toBe('{"","NULL","{x,y}","a \\"quoted\\" \\\\ word","\\\\u0000","ü\n"," "}');
  });

  it('FAULT A13: nulls are nulls, and nought is nought', () => {
    expect(
      rows.values([
        { a: null, n: 0 },
        { a: '', n: null },
      ]),
    ).toEqual(['{NULL,""}', '{0,NULL}']);
    expect(rows.values([])).toEqual(['{}', '{}']);
  });

  it('JOB-1: a source counts its rows from 1 and numbers its parameters from where it is told', () => {
    expect(rows.source('d', 4)).toBe('unnest($4::text[], $5::int[]) WITH ORDINALITY AS d(a, n, nr)');
  });
});
