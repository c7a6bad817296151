import { z } from 'zod';
import { MIXED_SCRIPTS, SCRIPTS } from './scripts.js';

export const scriptFindingSchema = z.object({
  /** ISO 15924 code of what most letters belong to, `Zyyy` when the text has no letters. */
  script: z.string(),
  /** Its share of all letters, 0 to 1. */
  share: z.number(),
  letters: z.number().int(),
});
export type ScriptFinding = z.infer<typeof scriptFindingSchema>;

/** A text is called Japanese or Korean from this share of its own syllables on; Chinese has none of them. */
const OWN_SYLLABLES = 0.1;

/**
 * Tells the script of a text by the Unicode property of each of its letters. Letters of no one script (Common,
 * Inherited) don't count. It remembers code points it has met, so that the property is asked once a character.
 */
export class ScriptDetector {
  private readonly known = new Map<number, string | undefined>();

  detect(text: string): ScriptFinding {
    const counts = new Map<string, number>();
    let letters = 0;
    for (const character of text) {
      const script = this.scriptOf(character);
      if (script === undefined) continue;
      letters += 1;
      counts.set(script, (counts.get(script) ?? 0) + 1);
    }
    if (letters === 0) return { script: 'Zyyy', share: 0, letters };
    const mixed = Object.entries(MIXED_SCRIPTS).find(([, [...parts]]) => isMixed(parts, counts, letters));
    if (mixed) return { script: mixed[0], share: sum(mixed[1], counts) / letters, letters };
    const [script, count] = [...counts].reduce((most, next) => (next[1] > most[1] ? next : most));
    return { script, share: count / letters, letters };
  }

  private scriptOf(character: string): string | undefined {
    const codePoint = character.codePointAt(0)!;
    if (this.known.has(codePoint)) return this.known.get(codePoint);
    const isLetter = /\p{L}/u.test(character);
    const script = isLetter ? SCRIPTS.find(({ pattern }) => pattern.test(character))?.code : undefined;
    this.known.set(codePoint, script);
    return script;
  }
}

function isMixed(parts: string[], counts: ReadonlyMap<string, number>, letters: number): boolean {
  const own = parts.filter((part) => part !== 'Hani');
  return sum(own, counts) / letters >= OWN_SYLLABLES && sum(parts, counts) / letters > 0.5;
}

function sum(parts: readonly string[], counts: ReadonlyMap<string, number>): number {
  return parts.reduce((total, part) => total + (counts.get(part) ?? 0), 0);
}
