import { readFileSync } from 'node:fs';

/** Whether a process exists and is more than the remains of one that nobody has collected yet. */
export function isRunning(pid: number): boolean {
  if (!(pid > 0) || !exists(pid)) return false;
  return readState(pid)?.state !== 'Z';
}

/**
 * Whether a process may be a PostgreSQL server: false when the number went to another program since.
 *
 * Known on Linux only; elsewhere any running process counts as one.
 */
export function mayBeServer(pid: number): boolean {
  return isRunning(pid) && (readState(pid)?.program ?? 'postgres') === 'postgres';
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readState(pid: number): { program: string; state: string } | undefined {
  try {
    // "4711 (postgres) S …": served from memory, so that reading it at once blocks nobody.
    const [, program, state] = /\((.*)\) (\S)/s.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? [];
    return program === undefined || state === undefined ? undefined : { program, state };
  } catch {
    return undefined;
  }
}
