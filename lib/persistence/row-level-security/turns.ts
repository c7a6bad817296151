const turns = new WeakMap<object, Promise<unknown>>();

/**
 * One after the other for all that says whose session a connection is: what came in between would read and write under the owner of
 * another, and give back an owner that was only another's for the moment. Must not be asked for within a turn.
 *
 * @param session what stands for the connection; undefined: nobody else has it
 */
export function inTurn<T>(session: object | undefined, work: () => Promise<T>): Promise<T> {
  if (session === undefined) return work();
  const turn = (turns.get(session) ?? Promise.resolve()).then(work);
  turns.set(
    session,
    turn.catch(() => undefined),
  );
  return turn;
}
