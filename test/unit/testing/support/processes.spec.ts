import { forkProcess } from '../../../support/processes.js';
import type { TestProcess } from '../../../support/processes.js';

const start = (): TestProcess => forkProcess('test/unit/testing/support/echo.process.ts');

describe('a forked process', () => {
  it('runs TypeScript with decorators and answers messages', async () => {
    const child = start();
    expect(await child.waitFor('ready')).toMatchObject({ class: 'Echo', noted: true });
    child.send('say', { text: 'hello' });
    expect(await child.waitFor('said')).toEqual({ type: 'said', text: 'hello', at: new Date(0), mood: 'calm' });
  });

  it('is gone once kill resolves', async () => {
    const child = start();
    await child.waitFor('ready');
    expect(await child.kill()).toEqual({ code: null, signal: 'SIGKILL' });
    await expect(child.waitFor('said')).rejects.toThrow('ended (SIGKILL) before "said"');
  });

  it('stands still while frozen and goes on when thawed', async () => {
    const [frozen, other] = [start(), start()];
    await Promise.all([frozen.waitFor('ready'), other.waitFor('ready')]);
    frozen.freeze();
    frozen.send('say', { text: 'late' });
    other.send('say', { text: 'early' });
    const late = frozen.waitFor('said');
    expect(await Promise.race([late, other.waitFor('said')])).toMatchObject({ text: 'early' });
    frozen.thaw();
    expect(await late).toMatchObject({ text: 'late' });
  });

  it('tells what it printed, with lines of the source, when it ends too early', async () => {
    const child = start();
    await child.waitFor('ready');
    child.send('fall');
    await expect(child.waitFor('said')).rejects.toThrow(/fell over[^]*echo\.process\.ts:20/);
  });
});
