/** ISO 15924 codes of the scripts that Unicode gives letters to; those this runtime doesn't know yet are left out. */
const CODES =
  'Latn Cyrl Grek Arab Hebr Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Thai Laoo Tibt Mymr Geor Hang Ethi Cher ' +
  'Cans Khmr Mong Hira Kana Bopo Hani Yiii Armn Syrc Thaa Nkoo Ogam Runr Tglg Hano Buhd Tagb Limb Tale Talu Bugi Lana ' +
  'Bali Sund Batk Lepc Olck Vaii Saur Kali Rjng Java Cham Tavt Mtei Copt Glag Tfng Bamu Lisu Samr Egyp Xsux Goth Ital ' +
  'Dsrt Shaw Osma Cprt Linb Ugar Xpeo Phnx Khar Avst Prti Phli Armi Sarb Mand Brah Kthi Cakm Sora Shrd Takr Merc Mero ' +
  'Plrd Aghb Bass Dupl Elba Gran Hmng Khoj Lina Mahj Mani Mend Modi Mroo Narb Nbat Palm Pauc Perm Phlp Sidd Sind Tirh ' +
  'Wara Ahom Hatr Hluw Hung Mult Sgnw Adlm Bhks Marc Newa Osge Tang Gonm Nshu Soyo Zanb Dogr Gong Maka Medf Rohg Sogd ' +
  'Sogo Elym Hmnp Nand Wcho Chrs Diak Kits Yezi Cpmn Ougr Tnsa Toto Vith Kawi Nagm';

export const SCRIPTS: ReadonlyArray<{ code: string; pattern: RegExp }> = CODES.split(' ').flatMap((code) => {
  try {
    return [{ code, pattern: new RegExp(`\\p{Script=${code}}`, 'u') }];
  } catch {
    return [];
  }
});

/** Scripts that are written together and named together: Japanese mixes three, Korean two. */
export const MIXED_SCRIPTS: Readonly<Record<string, readonly string[]>> = {
  Jpan: ['Hira', 'Kana', 'Hani'],
  Kore: ['Hang', 'Hani'],
};

const names = new Intl.DisplayNames('en', { type: 'script' });

/** @example scriptName('Tfng') // 'Tifinagh' */
export function scriptName(code: string): string {
  return names.of(code) ?? code;
}
