import { InvalidOptionsError, RunNotFoundError, UndefinedIdError } from '../../errors/index.js';
import type { RunHandle } from '../../interfaces/index.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/**
 * The id of a run, checked before any statement is built with it (fault A18).
 *
 * @throws UndefinedIdError when there is none, RunNotFoundError for a text that no run can have as its id
 */
export function runIdOf(run: RunHandle | string, where: string): string {
  const id: unknown = typeof run === 'object' && run !== null ? run.id : run;
  if (id === undefined || id === null || id === '') {
    throw new UndefinedIdError({ what: 'runId', where, hint: 'the id that start() returned' });
  }
  if (typeof id !== 'string') {
    throw new InvalidOptionsError({
      where,
      problems: [{ path: 'runId', message: `must be a text, and is of type ${typeof id}` }],
    });
  }
  if (!isUuid(id)) throw new RunNotFoundError({ runId: JSON.stringify(id.slice(0, 60)) });
  return id.toLowerCase();
}
