import { readFileSync, writeFileSync } from 'node:fs';
import { errorsPage } from './errors-page.js';

describe('docs/errors.md', () => {
  it('FAIL-4: is what the catalogue says', () => {
    if (process.env.WRITE_DOCS === '1') writeFileSync('docs/errors.md', errorsPage());
    expect(readFileSync('docs/errors.md', 'utf8')).toBe(errorsPage());
  });
});
