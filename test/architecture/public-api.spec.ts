import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPublicApi } from './public-api.js';
import type { PublicApi } from './public-api.js';

const root = join(__dirname, '../..');

describe('the public API', () => {
  let api: PublicApi;

  // The compiler reads the whole package.
  beforeAll(() => {
    api = readPublicApi(root);
  });

  it('is what public-api.txt says; `npm run api:accept` writes it anew, for review', () => {
    expect(api.text).toBe(readFileSync(join(__dirname, 'public-api.txt'), 'utf8'));
  });

  it('exports nothing that says @internal', () => {
    expect(api.internal).toEqual([]);
  });
});
