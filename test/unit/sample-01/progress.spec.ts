import { PassThrough } from 'node:stream';
import { openProgressView } from '../../../sample/01-documents/progress/open-progress-view.js';
import { PlainProgress } from '../../../sample/01-documents/progress/plain-progress.js';
import { describeStage, type Progress } from '../../../sample/01-documents/progress/progress.js';

const progressOf = (completed: number, failed = 0): Progress => ({
  documents: 100,
  completed,
  failed,
  cancelled: 0,
  stages: [{ id: 'read', running: 3, retrying: 1, completed, failed }],
});

describe('PlainProgress', () => {
  it('writes a line for each step of progress, and none in between', () => {
    const lines: string[] = [];
    const view = new PlainProgress((line) => lines.push(line), 10);
    for (let completed = 0; completed <= 35; completed += 1) view.show(progressOf(completed));
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['0/100', '10/100', '20/100', '30/100']);
    expect(lines[1]).toBe('10/100 documents | read: 10 done, 3 running, 1 retrying');
  });

  it('writes the last state at the end, once', () => {
    const lines: string[] = [];
    const view = new PlainProgress((line) => lines.push(line), 10);
    view.show(progressOf(10));
    view.show(progressOf(13, 1));
    view.stop();
    view.stop();
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('14/100 documents, 1 failed');
  });

  it('has a line for a library without documents', () => {
    const lines: string[] = [];
    new PlainProgress((line) => lines.push(line)).show({
      documents: 0,
      completed: 0,
      failed: 0,
      cancelled: 0,
      stages: [],
    });
    expect(lines).toHaveLength(1);
  });
});

describe('describeStage', () => {
  it('says only what there is', () => {
    expect(describeStage({ id: 'read', running: 0, retrying: 0, completed: 4, failed: 0 })).toBe('4 done');
    expect(describeStage({ id: 'read', running: 1, retrying: 0, completed: 4, failed: 2 })).toBe(
      '4 done, 1 running, 2 failed',
    );
  });
});

describe('openProgressView', () => {
  function shown(isTTY: boolean): string {
    const stream = Object.assign(new PassThrough(), { isTTY, columns: 120 });
    const view = openProgressView(stream);
    view.show(progressOf(0));
    view.show(progressOf(50, 1));
    view.stop();
    return String(stream.read());
  }

  it('draws bars on a terminal, one for the documents and one a stage', () => {
    const text = shown(true);
    expect(text).toContain('51 of 100, 1 failed');
    expect(text).toMatch(/read +\S+ 51% 50 done, 3 running, 1 retrying, 1 failed/);
  });

  it('writes plain lines without control codes elsewhere', () => {
    const text = shown(false);
    expect(text).toContain('51/100 documents, 1 failed');
    expect(text).not.toContain('\u001b');
  });
});
