import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../../lib');

/** Folders whose README is a table of what lies in them. */
function folders(): readonly string[] {
  const below = (path: string): string[] => {
    const entries = readdirSync(join(root, path), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => (path ? `${path}/${name}` : name));
  };
  return ['', ...below(''), ...below('engine'), ...below('testing')];
}

/** What stands in `code`. */
function namesIn(readme: string): readonly string[] {
  return [...readme.matchAll(/`([\w*./-]+)`/g)].map(([, name]) => name!);
}

/** `*.errors.ts` names several, and `suites/…` the folder. */
function covers(name: string, entry: string): boolean {
  const pattern = name.split('/')[0]!.replaceAll('.', '\\.').replaceAll('*', '[\\w-]+');
  return new RegExp(`^${pattern}$`).test(entry);
}

const isFile = (name: string): boolean => /^[\w.-]+\.ts$/.test(name);

describe('the README of', () => {
  it.each(folders().map((folder) => [`lib/${folder}`, folder] as const))(
    '%s names what lies in it',
    (_path, folder) => {
      const readme = join(root, folder, 'README.md');
      expect(existsSync(readme)).toBe(true);
      const names = namesIn(readFileSync(readme, 'utf8'));
      const entries = readdirSync(join(root, folder));
      // An index only repeats what lies beside it, but for the package's own.
      const here = entries.filter((entry) => entry !== 'README.md' && (folder === '' || entry !== 'index.ts'));
      expect(here.filter((entry) => !names.some((name) => covers(name, entry)))).toEqual([]);
      expect(names.filter((name) => isFile(name) && !entries.some((entry) => covers(name, entry)))).toEqual([]);
    },
  );
});
