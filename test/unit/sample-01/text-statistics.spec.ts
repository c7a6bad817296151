import { findKeywords } from '../../../sample/01-documents/analysis/keywords.js';
import { eachPiece, piecesOf } from '../../../sample/01-documents/analysis/pieces.js';
import { measureText } from '../../../sample/01-documents/analysis/text-statistics.js';

const options = { language: 'en', keywords: 5, wordsPerMinute: 200 };

describe('measureText', () => {
  it('counts words, sentences, vocabulary and reading time', async () => {
    const statistics = await measureText('The cat sat. The dog, 3 years old, ran!\nNo end', options);
    expect(statistics).toMatchObject({ words: 11, sentences: 3, vocabulary: 10, wordsPerSentence: 3.7 });
    expect((await measureText('word '.repeat(500), options)).readingMinutes).toBe(2.5);
  });

  it('finds words where no spaces are', async () => {
    const japanese = await measureText('すべての人間は、生まれながらにして自由である。', {
      ...options,
      language: 'ja',
    });
    expect(japanese).toMatchObject({ sentences: 1 });
    expect(japanese.words).toBeGreaterThan(5);
  });

  it('gives zeros for a text without words', async () => {
    expect(await measureText('… !', options)).toEqual({
      words: 0,
      sentences: 0,
      vocabulary: 0,
      wordsPerSentence: 0,
      readingMinutes: 0,
      keywords: [],
    });
  });

  it('stops when its signal aborts', async () => {
    const measure = measureText('word '.repeat(40_000), { ...options, signal: AbortSignal.abort(new Error('stop')) });
    await expect(measure).rejects.toThrow('stop');
  });
});

describe('findKeywords', () => {
  it('prefers a word that gathers in one place to one that is spread evenly', () => {
    const even = Array.from({ length: 20 }, (_, i) => i * 50 + 3);
    const gathered = Array.from({ length: 20 }, (_, i) => 500 + i * 2);
    const found = findKeywords(new Map(Object.entries({ the: even, education: gathered })), 1_000, 5);
    expect(found.map(({ word }) => word)).toEqual(['education']);
  });

  it('leaves out numbers, single letters and words that stand fewer than three times', () => {
    const places = [1, 2, 3, 4];
    const positions = new Map(Object.entries({ 1948: places, a: places, rare: [1, 2], 人: places }));
    expect(findKeywords(positions, 1_000, 5).map(({ word }) => word)).toEqual(['人']);
  });

  it('has no keyword in a text of one word over and over', () => {
    expect(findKeywords(new Map([['word', [0, 1, 2, 3]]]), 4, 5)).toEqual([]);
  });
});

describe('piecesOf', () => {
  it('cuts at line breaks, and long lines at a space', () => {
    expect([...piecesOf('one two three\n\nfour', 8)]).toEqual(['one two ', 'three', 'four']);
  });

  it('cuts a line without spaces between two characters', () => {
    expect([...piecesOf('𞤀𞤀𞤀', 3)]).toEqual(['𞤀', '𞤀', '𞤀']);
  });

  it('loses nothing and keeps each piece short', () => {
    const line = 'lorem ipsum '.repeat(1_000) + 'x'.repeat(5_000);
    const pieces = [...piecesOf(line, 100)];
    expect(pieces.join('')).toBe(line);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(100);
  });

  it('lets other work of the process have a turn within a long text', async () => {
    let turns = 0;
    let ended = false;
    const count = (): void => {
      turns += 1;
      if (!ended) setImmediate(count);
    };
    setImmediate(count);
    await eachPiece('word '.repeat(100_000), () => undefined);
    ended = true;
    expect(turns).toBeGreaterThan(3);
  });
});
