import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunHistoryView, RunPage, RunView } from '../../lib/index.js';
import { freshDatabase } from '../support/database.js';
import { forkProcess, type TestProcess } from '../support/processes.js';

type Json<T> = T extends Date ? string : T extends object ? { [K in keyof T]: Json<T[K]> } : T;

describe('sample 01, documents', () => {
  jest.setTimeout(180_000);

  let databaseUrl: string;
  let folder: string;

  beforeEach(async () => {
    databaseUrl = (await freshDatabase({ empty: true })).url;
    folder = await mkdtemp(join(tmpdir(), 'sample-01-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  function start(...args: string[]): TestProcess {
    const env = { DATABASE_URL: databaseUrl, SAMPLE_FOLDER: folder };
    return forkProcess('test/e2e/sample-01.process.ts', { args, env });
  }

  // Text comes as messages: the pipe of its output may be behind them.
  const texts = new WeakMap<TestProcess, string>();
  async function printed(sample: TestProcess, pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const text = texts.get(sample) ?? '';
      const match = pattern.exec(text);
      if (match) return match;
      texts.set(sample, text + (await sample.waitFor<{ text: string }>('printed')).text);
    }
  }

  const urlOf = async (sample: TestProcess): Promise<string> => (await printed(sample, /^HTTP: (\S+)/m))[1]!;

  async function call<T>(url: string, method = 'GET', status = 200): Promise<T> {
    const response = await fetch(url, { method });
    const text = await response.text();
    expect([url, response.status, text]).toEqual([url, status, text]);
    return (response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text) as T;
  }

  async function histories(url: string): Promise<Json<RunHistoryView>[]> {
    const { runs } = await call<Json<RunPage>>(`${url}/runs?limit=500`);
    return Promise.all(runs.map(({ id }) => call<Json<RunHistoryView>>(`${url}/runs/${id}/history`)));
  }

  it('analyses documents, reports on them, and answers over HTTP', async () => {
    const sample = start('--limit', '8', '--concurrency', '4');
    const url = await urlOf(sample);
    // Five declarations and the three made documents, of which two can't be read.
    await printed(sample, /^6 of 8 documents analysed, 2 failed/m);
    await printed(sample, /^EMPTY_DOCUMENT +1 +extra-empty/m);
    await printed(sample, /^NOT_UTF8 +1 +extra-not-utf8/m);
    await printed(sample, /Serving HTTP until Ctrl-C/);
    expect(await call<string>(`${url}/report`)).toContain('6 of 8 documents analysed');
    expect(await readdir(join(folder, 'reports'))).toHaveLength(6);
    const large = JSON.parse(await readFile(join(folder, 'reports', 'extra-very-large.json'), 'utf8'));
    expect(large).toMatchObject({ reading: { truncated: true }, language: { detected: 'en', expected: 'en' } });

    expect(await call<string>(`${url}/api`)).toContain('swagger');
    const failed = (await call<Json<RunPage>>(`${url}/runs?status=FAILED`)).runs;
    expect(failed.map(({ failureCode }) => failureCode).sort()).toEqual(['EMPTY_DOCUMENT', 'NOT_UTF8']);
    expect(await call(`${url}/runs/${failed[0]!.id}/retry`, 'POST')).toMatchObject({ id: failed[0]!.id });
    await call(`${url}/documents/nosuch/runs`, 'POST', 404);
    await call(`${url}/runs/00000000-0000-7000-8000-000000000000`, 'GET', 404);

    expect(await sample.kill('SIGINT')).toEqual({ code: 130, signal: null });
  });

  it('CANCEL-1: a run is cancelled over HTTP once, and is none to retry', async () => {
    // At a pace at which no run ends before it is cancelled.
    const sample = start('--limit', '1', '--pace', '600000');
    const url = await urlOf(sample);
    const { runId } = await call<{ runId: string }>(`${url}/documents/eng/runs`, 'POST', 201);
    await call(`${url}/runs/${runId}/cancel`, 'POST');
    expect((await call<Json<RunView>>(`${url}/runs/${runId}`)).status).toBe('CANCELLED');
    expect(await call(`${url}/runs/${runId}/cancel`, 'POST', 409)).toMatchObject({ code: 'RUN_NOT_CANCELLABLE' });
    expect(await call(`${url}/runs/${runId}/retry`, 'POST', 409)).toMatchObject({ code: 'RUN_NOT_RETRYABLE' });
    expect(await sample.kill('SIGINT')).toEqual({ code: 130, signal: null });
  });

  it('LEASE-6: interrupted in the middle, it hands back in order, and the next start goes on and redoes nothing', async () => {
    const first = start('--limit', '40', '--concurrency', '4', '--pace', '100');
    await printed(first, /^([5-9]|[123]\d)\/40 documents/m);
    expect(await first.kill('SIGINT')).toEqual({ code: 130, signal: null });
    expect(first.output).toContain('Stopped in order.');
    expect(first.output).not.toContain('documents analysed');

    const second = start('--limit', '40');
    const url = await urlOf(second);
    const [, before] = await printed(
      second,
      /^40 of 40 documents were begun by an earlier start, which had finished (\d+)/m,
    );
    expect(Number(before)).toBeGreaterThanOrEqual(5);
    expect(Number(before)).toBeLessThan(40);
    await printed(second, /^38 of 40 documents analysed, 2 failed/m);

    const all = await histories(url);
    expect(all).toHaveLength(40);
    const stages = all.flatMap((history) => history.stages);
    // Five stages a document, one for each of the two that can't be read: none ran a second time but after a hiccup.
    expect(stages.filter(({ status }) => status === 'COMPLETED')).toHaveLength(38 * 5);
    const attempts = stages.flatMap((stage) => stage.failedAttempts);
    const codes = new Set(attempts.map(({ code }) => code));
    expect([...codes].sort()).toEqual(['EMPTY_DOCUMENT', 'EXCEPTION', 'NOT_UTF8']);
    for (const stage of stages) {
      const failures = stage.status === 'FAILED' ? 0 : stage.failedAttempts.length;
      expect([stage.key, stage.attempt, stage.losses]).toEqual([stage.key, 1 + failures, 0]);
    }
    await second.kill('SIGINT');
  });
});
