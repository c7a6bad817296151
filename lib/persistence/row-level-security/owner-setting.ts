import type { JoinedTransaction } from '../../engine/ports/index.js';
import { OWNER_SETTING } from './row-policies.js';

/** Sets whose transaction it is, and answers whose it was. The inner query comes first: it is not merged into the outer one. */
export const SET_OWNER = {
  name: 'set-owner',
  text: `SELECT x.was, set_config('${OWNER_SETTING}', $1, true) FROM (SELECT current_setting('${OWNER_SETTING}', true) AS was OFFSET 0) x`,
};

/**
 * The same as text for a round trip that carries no parameters. As bytes in hexadecimal, so that nothing of it can be anything but
 * a value, whatever the server takes for an escape.
 */
export const setOwnerText = (owner: string): string =>
  `SELECT set_config('${OWNER_SETTING}', convert_from(decode('${Buffer.from(owner).toString('hex')}', 'hex'), 'UTF8'), true)`;

/** For the rest of the host's transaction, or until it is set again. Answers whose it was; null where it was never said. */
export async function setOwner({ query }: Pick<JoinedTransaction, 'query'>, owner: string): Promise<string | null> {
  const [row] = (await query(SET_OWNER.text, [owner])) as { was: string | null }[];
  return row?.was ?? null;
}

/** Work for an owner in somebody else's transaction, which is its caller's again afterwards, also when it failed. */
export async function ownedBy<T>(
  transaction: Pick<JoinedTransaction, 'query'>,
  owner: string,
  work: () => Promise<T>,
): Promise<T> {
  const was = (await setOwner(transaction, owner)) ?? '';
  if (was === owner) return work();
  let answer: T;
  try {
    answer = await work();
  } catch (error) {
    // After a failed statement PostgreSQL takes none any more; a rollback to a savepoint of the host's brings its value back.
    await setOwner(transaction, was).catch(() => undefined);
    throw error;
  }
  await setOwner(transaction, was);
  return answer;
}
