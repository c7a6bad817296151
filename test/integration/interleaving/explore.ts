import type { Pool } from 'pg';
import type { Side } from './stepped-pool.js';

/** Whether the side's own backend waits for a lock: then it is blocked, not slow. */
async function isBlocked(side: Side, monitor: Pool): Promise<boolean> {
  const { rows } = await monitor.query(`SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'`, [
    side.pid,
  ]);
  return rows.length > 0;
}

/** Waits until the side stands at its next gate, has ended, or hangs on a lock. */
async function settle(side: Side, monitor: Pool): Promise<'ready' | 'blocked'> {
  let ready = side.waiting;
  void side.settled.then(() => (ready = true));
  while (!ready) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!ready && !side.waiting && (await isBlocked(side, monitor))) {
      // Asked twice: a lock may be waited for only for a moment.
      await new Promise((resolve) => setImmediate(resolve));
      if (!side.waiting && (await isBlocked(side, monitor))) return 'blocked';
    }
    ready ||= side.waiting;
  }
  return 'ready';
}

export interface Scenario {
  readonly sides: readonly [Side, Side];
  /** Called whenever no side is in the middle of a statement. */
  check(trace: string): Promise<void>;
}

/**
 * Runs two sides through every order of their statements: depth first, each order on a scenario of its own. Answers how many
 * orders there were.
 */
export async function exploreAll(monitor: Pool, prepare: () => Promise<Scenario>): Promise<number> {
  let orders = 0;
  let prefix: number[] | undefined = [];
  while (prefix) {
    const taken: Step[] = [];
    const { sides, check } = await prepare();
    try {
      await Promise.all(sides.map((side) => side.settled));
      await runOrder(sides, prefix, taken, check, monitor);
    } finally {
      // Also after a failure: a transaction left open would hold up every later scenario.
      await Promise.all(sides.map((side) => side.runFree()));
    }
    orders += 1;
    prefix = nextPrefix(taken);
  }
  return orders;
}

interface Step {
  readonly choice: number;
  readonly options: number;
}

/** Runs one order: the steps of `prefix`, then always the first side that can go on. Notes what it took. */
async function runOrder(
  sides: readonly [Side, Side],
  prefix: readonly number[],
  taken: Step[],
  check: Scenario['check'],
  monitor: Pool,
): Promise<void> {
  let trace = '';
  const blocked = new Set<Side>();
  for (;;) {
    for (const side of blocked) if (side.waiting) blocked.delete(side);
    const enabled = sides.filter((side) => !side.done && !blocked.has(side));
    if (enabled.length === 0) {
      if (blocked.size === 0) break;
      // The other's commit is on its way to them; or it is a deadlock, which PostgreSQL ends with an error of one side.
      for (const side of [...blocked]) await unblock(side, blocked, monitor);
      continue;
    }
    const depth = taken.length;
    const choice = Math.min(prefix[depth] ?? 0, enabled.length - 1);
    taken.push({ choice, options: enabled.length });
    const side = enabled[choice]!;
    trace += side.name;
    side.step();
    if ((await settle(side, monitor)) === 'blocked') blocked.add(side);
    for (const other of [...blocked]) if (other !== side) await unblock(other, blocked, monitor);
    if (blocked.size === 0) await check(trace);
  }
  for (const side of sides) if (side.error) throw new Error(`${side.name} failed in ${trace}`, { cause: side.error });
  await check(`${trace} (end)`);
}

/** After the other side moved, a blocked one may have gone on. */
async function unblock(side: Side, blocked: Set<Side>, monitor: Pool): Promise<void> {
  if ((await settle(side, monitor)) === 'ready') blocked.delete(side);
}

function nextPrefix(taken: readonly Step[]): number[] | undefined {
  for (let depth = taken.length - 1; depth >= 0; depth -= 1) {
    const { choice, options } = taken[depth]!;
    if (choice + 1 < options) return [...taken.slice(0, depth).map((step) => step.choice), choice + 1];
  }
  return undefined;
}
