import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { run } from './run.js';

/** Who the server's processes run as. */
export interface ServerAccount {
  /** Set only when this process is root: PostgreSQL refuses to run as root. */
  readonly switchTo?: { readonly uid: number; readonly gid: number };
  /** The user id that owns the data folder. */
  readonly uid: number;
}

/**
 * Picks the operating system's user for the server: the one running this process or, for root, `postgres` where it
 * exists and `nobody` otherwise (a bare container has no postgres user).
 */
export async function chooseServerAccount(uid: number = process.getuid?.() ?? 0): Promise<ServerAccount> {
  if (uid !== 0) return { uid };
  const ids = (await idsOf('postgres')) ?? (await idsOf('nobody')) ?? { uid: 65534, gid: 65534 };
  return { switchTo: ids, uid: ids.uid };
}

/**
 * Whether the server's user can enter a folder, that is, pass every folder above it.
 *
 * Root's home is closed to others on most machines, and so is whatever was made there under umask 077. Groups are not
 * looked at: they could only open more.
 */
export async function isReachable(folder: string, account: ServerAccount): Promise<boolean> {
  if (account.switchTo === undefined) return true;
  for (let current = folder; ; current = dirname(current)) {
    const entry = await stat(current).catch(() => undefined);
    if (entry !== undefined) {
      const entered = entry.uid === account.uid ? entry.mode & 0o100 : entry.mode & 0o001;
      if (entered === 0) return false;
    }
    if (current === dirname(current)) return true;
  }
}

async function idsOf(user: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])]);
    return { uid: Number(uid), gid: Number(gid) };
  } catch {
    return undefined;
  }
}
