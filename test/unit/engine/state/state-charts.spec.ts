import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  nextRunStatus,
  nextStageRunStatus,
  RUN_TRANSITIONS,
  STAGE_RUN_TRANSITIONS,
} from '../../../../lib/engine/state/transition-tables.js';
import {
  isTerminalRun,
  isTerminalStageRun,
  RUN_STATUSES,
  STAGE_RUN_STATUSES,
} from '../../../../lib/engine/state/statuses.js';

const drawn = readFileSync(join(__dirname, '../../../../docs/state-charts.md'), 'utf8');

function arrowsDrawn(heading: string): string[] {
  const chart = drawn.split(`## ${heading}\n`)[1]?.match(/```mermaid\n([\s\S]*?)```/)?.[1] ?? '';
  return [...chart.matchAll(/(\w+) --> (\w+): (\w+)/g)].map(([, from, to, name]) => `${name}: ${from} -> ${to}`).sort();
}

function arrowsOf(table: Record<string, { from: readonly string[]; to: string }>): string[] {
  return Object.entries(table)
    .flatMap(([name, { from, to }]) => from.map((source) => `${name}: ${source} -> ${to}`))
    .sort();
}

describe('state charts', () => {
  it('RUN-2: the chart of a run is its transition table', () => {
    expect(arrowsDrawn('Run')).toEqual(arrowsOf(RUN_TRANSITIONS));
    expect(arrowsDrawn('Run').length).toBeGreaterThan(5);
  });

  it('RUN-2: the chart of a stage run is its transition table', () => {
    expect(arrowsDrawn('Stage run')).toEqual(arrowsOf(STAGE_RUN_TRANSITIONS));
    expect(arrowsDrawn('Stage run').length).toBeGreaterThan(10);
  });

  it('RUN-2: what a table does not draw has no next status', () => {
    expect(nextRunStatus('COMPLETED', 'cancel')).toBeUndefined();
    expect(nextRunStatus('FAILED', 'retry')).toBe('RUNNING');
    expect(nextStageRunStatus('COMPLETED', 'complete')).toBeUndefined();
    expect(nextStageRunStatus('PENDING', 'claim')).toBe('RUNNING');
  });

  it('RUN-2: a terminal status is left only by retry, rerun or reopen', () => {
    const left = (table: Record<string, { from: readonly string[] }>, statuses: readonly string[]) =>
      Object.entries(table)
        .filter(([, { from }]) => from.some((status) => statuses.includes(status)))
        .map(([name]) => name);
    expect(left(RUN_TRANSITIONS, RUN_STATUSES.filter(isTerminalRun))).toEqual(['retry', 'rerun']);
    expect(left(STAGE_RUN_TRANSITIONS, STAGE_RUN_STATUSES.filter(isTerminalStageRun))).toEqual(['reopen']);
  });
});
