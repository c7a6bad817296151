/**
 * Declared languages that the detector counts under another name: the two written forms of Norwegian, Mandarin,
 * Tosk Albanian, standard Malay, Filipino, standard Arabic, western Persian, Central Kurdish, Odia, standard Latvian
 * and Estonian. Neighbours that are languages of their own (Cantonese, Bosnian, Indonesian) are not among them.
 */
const COUNTED_UNDER: Readonly<Record<string, string>> = {
  nb: 'no',
  nn: 'no',
  cmn: 'zh',
  als: 'sq',
  zlm: 'ms',
  zsm: 'ms',
  fil: 'tl',
  arb: 'ar',
  pes: 'fa',
  ckb: 'ku',
  ory: 'or',
  lvs: 'lv',
  ekk: 'et',
};

/** Where the detector was trained on another script than the one CLDR thinks usual for the language. */
const TRAINED_SCRIPT: Readonly<Record<string, string>> = { ku: 'Arab' };

/**
 * The script a BCP 47 tag stands for, named or usual: `sr-Latn` → Latn, `ja` → Jpan; `und` → undefined.
 * Chinese is Hani whichever way it is written, for the two can't be told apart by letters alone.
 */
export function declaredScript(tag: string): string | undefined {
  const locale = new Intl.Locale(tag);
  if (languageOf(locale) === 'und') return undefined;
  const script = locale.maximize().script;
  return script === 'Hans' || script === 'Hant' ? 'Hani' : script;
}

/**
 * The detector's code for a declared language, or undefined when it doesn't know the language, or knows it in another
 * script only (Serbian in Latin letters, Azerbaijani in Cyrillic ones): then no answer of it could be right.
 *
 * @example detectableLanguage('nn', new Set(['no'])) // 'no'
 */
export function detectableLanguage(tag: string, known: ReadonlySet<string>): string | undefined {
  const language = languageOf(new Intl.Locale(tag));
  const code = COUNTED_UNDER[language] ?? language;
  if (!known.has(code)) return undefined;
  return declaredScript(tag) === (TRAINED_SCRIPT[code] ?? declaredScript(code)) ? code : undefined;
}

/** V8 answers `undefined` to `new Intl.Locale('und').language`, and takes `und` for English when it maximizes. */
function languageOf(locale: Intl.Locale): string {
  return locale.baseName.split('-')[0]!;
}
