import { readFileSync } from 'node:fs';
import { declaredScript, detectableLanguage } from '../../../sample/01-documents/analysis/declared-language.js';
import { LanguageDetector } from '../../../sample/01-documents/analysis/language-detector.js';
import { ScriptDetector } from '../../../sample/01-documents/analysis/script-detector.js';
import { SCRIPTS, scriptName } from '../../../sample/01-documents/analysis/scripts.js';
import { DocumentLibrary } from '../../../sample/01-documents/documents/document-library.js';
import { ExtraDocuments } from '../../../sample/01-documents/documents/extra-documents.js';
import { WorkingFolder } from '../../../sample/01-documents/documents/working-folder.js';
import { HtmlText } from '../../../sample/01-documents/reading/html-text.js';

// `eld` offers its entries to `import` alone, and Jest resolves as `require` does: so by its file.
jest.mock('eld/medium', () => jest.requireActual('../../../node_modules/eld/src/entries/static.medium.js'), {
  virtual: true,
});

describe('declared language', () => {
  const known = new Set(['no', 'zh', 'sr', 'az', 'ku', 'de', 'ja', 'tl', 'ms', 'pt', 'en']);

  it.each([
    ['nn', 'no'],
    ['de-1901', 'de'],
    ['pt-BR', 'pt'],
    ['zh-Hant', 'zh'],
    ['zlm-Latn', 'ms'],
    ['sr-Cyrl', 'sr'],
    ['ckb', 'ku'],
    ['ja', 'ja'],
  ])('%s is known to the detector as %s', (tag, code) => {
    expect(detectableLanguage(tag, known)).toBe(code);
  });

  it.each(['sr-Latn', 'az-Cyrl', 'ku', 'tl-Tglg', 'zlm-Arab', 'und', 'tzm-Tfng', 'yue'])(
    '%s is not known to the detector: another language, or another script than it was trained on',
    (tag) => {
      expect(detectableLanguage(tag, known)).toBeUndefined();
    },
  );

  it('declares the usual script of a language, and none for an unknown language', () => {
    expect(['sr', 'sr-Latn', 'ja', 'zh', 'zh-Hant', 'und'].map(declaredScript)).toEqual([
      'Cyrl',
      'Latn',
      'Jpan',
      'Hani',
      'Hani',
      undefined,
    ]);
  });
});

describe('ScriptDetector', () => {
  const detector = new ScriptDetector();

  it('tells Japanese, Korean and Chinese apart by their own syllables', () => {
    const texts = ['人権の無視及び軽侮が', '모든 人間은 자유로운', '人人生而自由'];
    expect(texts.map((text) => detector.detect(text).script)).toEqual(['Jpan', 'Kore', 'Hani']);
  });

  it('counts letters only: digits, marks and punctuation belong to no script', () => {
    expect(detector.detect('ab, вгд 1234567890 !!!')).toEqual({ script: 'Cyrl', share: 0.6, letters: 5 });
    expect(detector.detect('123 …')).toEqual({ script: 'Zyyy', share: 0, letters: 0 });
  });

  it('knows scripts outside the basic plane', () => {
    expect(detector.detect('𞤀𞤁𞤂').script).toBe('Adlm');
  });

  it('names every script that it knows', () => {
    expect(SCRIPTS.length).toBeGreaterThan(140);
    expect(scriptName('Tfng')).toBe('Tifinagh');
  });
});

describe('the declarations', () => {
  const root = '/nowhere';
  const documents = new DocumentLibrary(new ExtraDocuments(new WorkingFolder(root)))
    .list()
    .filter(({ kind }) => kind === 'declaration');
  const texts = documents.map((document) => {
    const html = new HtmlText();
    return { document, text: html.write(readFileSync(document.path, 'utf8')) + html.end() };
  });

  it('are recognised in nineteen of twenty languages that the detector knows', () => {
    const detector = new LanguageDetector();
    const known = texts
      .map(({ document, text }) => detector.detect(text, document.declaredLanguage))
      .filter(({ expected }) => expected !== null);
    const right = known.filter(({ detected, expected }) => detected === expected);
    expect(known.length).toBeGreaterThan(75);
    expect(right.length / known.length).toBeGreaterThan(0.95);
  });

  it('are nearly all written in the script of their declared language', () => {
    const detector = new ScriptDetector();
    const declared = texts.filter(({ document }) => declaredScript(document.declaredLanguage) !== undefined);
    const other = declared
      .map(({ document, text }) => [document.id, document.declaredLanguage, detector.detect(text).script] as const)
      .filter(([, tag, script]) => script !== declaredScript(tag));
    expect(other.length / declared.length).toBeLessThan(0.05);
  });

  it('all have text, and none has markup left', () => {
    const wrong = texts.filter(
      ({ text }) => text.length < 50 || /<\/?(html|body|header|article|h\d|p|ol|li)\b|&#/.test(text),
    );
    expect(wrong.map(({ document, text }) => [document.id, text.length])).toEqual([]);
  });
});
