import { UnservedDefinitions } from '../../../lib/runtime/worker/unserved-definitions.js';
import { CollectedLog } from './support/collected-log.js';

const KEY = 'flow@1#f1';
const S = 1_000;

/** What a process knows of definitions, and a clock that a test moves. */
class Process {
  readonly log = new CollectedLog();
  readonly served = new Set<string>();
  readonly looks: [key: string, ownerId: string | null][] = [];
  mayServe: (key: string) => boolean = (key) => this.served.has(key);
  nowMs = 0;
  readonly unserved = new UnservedDefinitions({
    definitions: {
      byKey: (key) => (this.served.has(key) ? ({} as never) : undefined),
      mayServe: (key, ownerId) => {
        this.looks.push([key, ownerId]);
        return this.mayServe(key);
      },
    },
    log: this.log,
    deferMs: 30 * S,
    now: () => this.nowMs,
  });

  /** A claim so much later. Answers what the one after it skips. */
  async claimAfter(ms: number): Promise<readonly string[]> {
    this.nowMs += ms;
    this.unserved.keys();
    await this.unserved.looked();
    return this.unserved.keys();
  }
}

describe('definitions that this build does not serve', () => {
  it('GHOST-3: what was brought later is found, though no job asks for it', async () => {
    const process = new Process();
    process.unserved.learn(KEY, 'a');
    process.mayServe = (key) => Boolean(process.served.add(key));
    expect(await process.claimAfter(29 * S)).toEqual([KEY]);
    expect(await process.claimAfter(1 * S)).toEqual([]);
    expect(process.looks).toEqual([[KEY, 'a']]);
    expect(process.log.matching('log', `serves ${KEY} now`)).toHaveLength(1);
  });

  it('GHOST-3: it is looked for later each time, up to ten minutes, and told of once', async () => {
    const process = new Process();
    process.unserved.learn(KEY, 'a');
    const at: number[] = [];
    for (let second = 0; second < 3_600; second++) {
      const before = process.looks.length;
      expect(await process.claimAfter(S)).toEqual([KEY]);
      if (process.looks.length > before) at.push(process.nowMs / S);
      process.unserved.learn(KEY, 'a');
    }
    expect(at).toEqual([30, 90, 210, 450, 930, 1_530, 2_130, 2_730, 3_330]);
    expect(process.log.matching('warn', KEY)).toHaveLength(1);
  });

  it('GHOST-3: a look that fails is made again', async () => {
    const process = new Process();
    process.unserved.learn(KEY, null);
    process.mayServe = () => {
      throw new Error('the database is away');
    };
    expect(await process.claimAfter(30 * S)).toEqual([KEY]);
    process.mayServe = (key) => Boolean(process.served.add(key));
    expect(await process.claimAfter(60 * S)).toEqual([]);
  });

  it('OWNER-4: who names what is another owner’s keeps it from that one for a moment only', async () => {
    const process = new Process();
    process.unserved.learn(KEY, 'forger');
    process.mayServe = () => true;
    expect(await process.claimAfter(30 * S)).toEqual([]);
    process.unserved.learn(KEY, 'forger');
    expect(await process.claimAfter(59 * S)).toEqual([KEY]);
    expect(await process.claimAfter(1 * S)).toEqual([]);
    expect(process.log.matching('warn', KEY)).toHaveLength(1);
  });

  it('GHOST-3: keys that were made up do not fill the claim', () => {
    const { unserved } = new Process();
    for (let nth = 0; nth <= 1_000; nth++) unserved.learn(`made-up@${nth}#f`, 'forger');
    expect(unserved.keys()).toHaveLength(1_000);
    expect(unserved.keys()).not.toContain('made-up@0#f');
  });
});
