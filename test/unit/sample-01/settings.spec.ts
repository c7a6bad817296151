import { eachOf } from '../../../sample/01-documents/running/each-of.js';
import { readSettings, SettingsError } from '../../../sample/01-documents/settings.js';

describe('readSettings', () => {
  it('has defaults for everything', () => {
    expect(readSettings([], {})).toEqual({
      paceMs: 0,
      concurrency: 8,
      limit: Number.POSITIVE_INFINITY,
      batch: 'first',
      port: 0,
      databaseUrl: undefined,
      workingFolder: '.data/01-documents',
      exit: false,
    });
  });

  it('reads options and environment', () => {
    const settings = readSettings(['--pace', '200', '--limit=5', '--exit'], { DATABASE_URL: 'postgres://h/d' });
    expect(settings).toMatchObject({ paceMs: 200, limit: 5, exit: true, databaseUrl: 'postgres://h/d' });
  });

  it.each([
    [['--pace', 'fast']],
    [['--pace', '-1']],
    [['--limit', '0']],
    [['--concurrency', '1.5']],
    [['--peace', '1']],
  ])('refuses %j with a sentence and the usage', (args) => {
    expect(() => readSettings(args, {})).toThrow(SettingsError);
    expect(() => readSettings(args, {})).toThrow(/npm start -- \[--pace/);
  });
});

describe('eachOf', () => {
  it('keeps the order of results, and calls no more at once than it may', async () => {
    let running = 0;
    let most = 0;
    const results = await eachOf([3, 1, 2, 5, 4], 2, async (item) => {
      running += 1;
      most = Math.max(most, running);
      for (let turn = 0; turn < item; turn += 1) await Promise.resolve();
      running -= 1;
      return item * 10;
    });
    expect(results).toEqual([30, 10, 20, 50, 40]);
    expect(most).toBe(2);
  });

  it('takes an empty list', async () => {
    expect(await eachOf([], 2, () => Promise.reject(new Error('never')))).toEqual([]);
  });

  it('rejects when one call does', async () => {
    await expect(eachOf([1], 2, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });
});
