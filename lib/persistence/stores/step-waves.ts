import type { StepWrite } from '../../engine/ports/index.js';

/** A write and its place in the call. */
export interface PlacedWrite {
  readonly index: number;
  readonly write: StepWrite;
}

/**
 * Writes in groups of which none names a row twice, since a statement changes a row once. Nearly always there is one group;
 * what names a row that an earlier write names comes in a group behind it.
 */
export function inWaves(writes: readonly StepWrite[]): PlacedWrite[][] {
  const waves: { writes: PlacedWrite[]; rows: Set<string> }[] = [];
  writes.forEach((given, index) => {
    const write = withoutRepeats(given);
    const rows = rowsOf(write);
    const last = waves.findLastIndex((wave) => rows.some((row) => wave.rows.has(row)));
    const wave = (waves[last + 1] ??= { writes: [], rows: new Set() });
    wave.writes.push({ index, write });
    for (const row of rows) wave.rows.add(row);
  });
  return waves.map((wave) => wave.writes);
}

/** Of a row that one write names twice the last counts; what it writes itself needs no place from outside. */
function withoutRepeats(write: StepWrite): StepWrite {
  if (write.op !== 'wait') return { ...write, orders: lastOfEach(write.orders.filter(({ key }) => key !== write.key)) };
  const awaited = new Set(write.waits.map(({ key }) => key));
  return {
    ...write,
    waits: lastOfEach(write.waits),
    orders: lastOfEach(write.orders.filter(({ key }) => !awaited.has(key))),
  };
}

export const lastOfEach = <T extends { readonly key: string }>(items: readonly T[]): T[] =>
  items.length < 2 ? [...items] : [...new Map(items.map((item) => [item.key, item])).values()];

function rowsOf(write: StepWrite): string[] {
  const keys = write.op === 'wait' ? write.waits.map(({ key }) => key) : [write.key];
  return [...keys, ...write.orders.map(({ key }) => key)].map((key) => `${write.lease.stageRunId} ${key}`);
}
