import { eld } from 'eld/medium';
import { z } from 'zod';
import { detectableLanguage } from './declared-language.js';

export const languageFindingSchema = z.object({
  /** ISO 639-1, empty when the detector has no idea. */
  detected: z.string(),
  /** Best score, 0 to 1. */
  score: z.number(),
  /** The detector's own opinion of its answer. */
  reliable: z.boolean(),
  /** What it should have found; null when it doesn't know the declared language in this script. */
  expected: z.string().nullable(),
});
export type LanguageFinding = z.infer<typeof languageFindingSchema>;

/** The detector looks at so many code units from the start; more makes it slower and not surer. */
export const LANGUAGE_SAMPLE_LENGTH = 20_000;

/** Tells the language of a text by its letter groups, with `eld` (60 languages), and holds it against the declared one. */
export class LanguageDetector {
  // An instance of our own: another user of `eld` in the process may have narrowed the shared one.
  private readonly detector = eld.newInstance();

  readonly languages: ReadonlySet<string> = new Set(Object.values(this.detector.info().Languages));

  detect(text: string, declaredLanguage: string): LanguageFinding {
    const result = this.detector.detect(text.slice(0, LANGUAGE_SAMPLE_LENGTH));
    return {
      detected: result.language,
      score: result.getScores()[result.language] ?? 0,
      reliable: result.isReliable(),
      expected: detectableLanguage(declaredLanguage, this.languages) ?? null,
    };
  }
}
