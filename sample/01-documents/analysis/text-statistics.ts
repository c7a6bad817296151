import { z } from 'zod';
import { findKeywords, keywordSchema } from './keywords.js';
import { eachPiece } from './pieces.js';

export const textStatisticsSchema = z.object({
  words: z.number().int(),
  sentences: z.number().int(),
  /** Distinct words, letter case aside. */
  vocabulary: z.number().int(),
  wordsPerSentence: z.number(),
  readingMinutes: z.number(),
  keywords: z.array(keywordSchema),
});
export type TextStatistics = z.infer<typeof textStatisticsSchema>;

export interface TextStatisticsOptions {
  /** BCP 47 tag; where Intl.Segmenter has no rules for it, Unicode's general ones hold. */
  readonly language: string;
  /** How many keywords to give, at most. */
  readonly keywords: number;
  readonly wordsPerMinute: number;
  readonly signal?: AbortSignal;
}

/**
 * Counts words and sentences with Intl.Segmenter, which also finds words where none are set apart by spaces (Thai,
 * Japanese, Chinese, Khmer), and picks keywords.
 */
export async function measureText(text: string, options: TextStatisticsOptions): Promise<TextStatistics> {
  const wordSegmenter = new Intl.Segmenter(options.language, { granularity: 'word' });
  const sentenceSegmenter = new Intl.Segmenter(options.language, { granularity: 'sentence' });
  const positions = new Map<string, number[]>();
  let words = 0;
  let sentences = 0;
  const count = (piece: string): void => {
    for (const { segment, isWordLike } of wordSegmenter.segment(piece)) {
      if (!isWordLike) continue;
      const word = segment.toLowerCase();
      const places = positions.get(word);
      if (places) places.push(words);
      else positions.set(word, [words]);
      words += 1;
    }
    for (const { segment } of sentenceSegmenter.segment(piece)) if (/\p{L}/u.test(segment)) sentences += 1;
  };
  await eachPiece(text, count, options.signal);
  return {
    words,
    sentences,
    vocabulary: positions.size,
    wordsPerSentence: sentences === 0 ? 0 : round(words / sentences),
    readingMinutes: round(words / options.wordsPerMinute),
    keywords: findKeywords(positions, words, options.keywords),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
