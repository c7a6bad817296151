import { z } from 'zod';

export const keywordSchema = z.object({
  word: z.string(),
  count: z.number().int(),
  /** How much more than by chance the word gathers in places, in standard deviations. */
  score: z.number(),
});
export type Keyword = z.infer<typeof keywordSchema>;

/** A word that stands fewer times can't be said to gather anywhere. */
const FEWEST = 3;

/**
 * The words that a text is about, in any language, without a list of stop words: a word of grammar is spread over the
 * whole text, a word of the matter gathers where the matter is treated. What counts is the spread of the distances
 * between one word's places, compared with what chance would give for as many places (after Carpena and others, 2009).
 *
 * @param positions for each word, the running numbers of its places in ascending order
 * @param total how many words the text has
 * @param limit how many to give, best first
 */
export function findKeywords(
  positions: ReadonlyMap<string, readonly number[]>,
  total: number,
  limit: number,
): Keyword[] {
  const candidates: Keyword[] = [];
  for (const [word, places] of positions) {
    if (places.length < FEWEST || !isNameable(word)) continue;
    const score = clustering(places, total);
    if (score > 0) candidates.push({ word, count: places.length, score: Math.round(score * 100) / 100 });
  }
  candidates.sort((a, b) => b.score - a.score || b.count - a.count || (a.word < b.word ? -1 : 1));
  return candidates.slice(0, limit);
}

/** Numbers are no keywords, nor are single letters of an alphabet; a single ideograph can be a word. */
function isNameable(word: string): boolean {
  return /\p{L}/u.test(word) && (word.length > 1 || /\p{Script=Han}/u.test(word));
}

function clustering(places: readonly number[], total: number): number {
  const count = places.length;
  const distances = [...places, total].map((place, i) => place - (i === 0 ? -1 : places[i - 1]!));
  const mean = distances.reduce((sum, distance) => sum + distance, 0) / distances.length;
  const variance = distances.reduce((sum, distance) => sum + (distance - mean) ** 2, 0) / distances.length;
  const chanceOfWord = count / total;
  if (chanceOfWord >= 1) return 0;
  const spread = Math.sqrt(variance) / mean / Math.sqrt(1 - chanceOfWord);
  const expected = (2 * count - 1) / (2 * count + 2);
  const deviation = 1 / (Math.sqrt(count) * (1 + 2.8 * count ** -0.865));
  return (spread - expected) / deviation;
}
