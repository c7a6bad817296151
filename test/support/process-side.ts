/** The other side of `processes.ts`: what the forked file itself imports. */

/** Tells the test that something happened. Resolves once the message has left, so that a kill can't swallow it. */
export function announce(type: string, body: object = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    if (process.send === undefined) reject(new Error('Not forked by a test: there is nobody to tell.'));
    else process.send({ ...body, type }, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  });
}

/** Calls a function for every message of a type. While something listens, the process stays alive. */
export function onMessage<T extends object>(type: string, handle: (message: T) => unknown): void {
  process.on('message', (message: T & { type: string }) => {
    if (message.type === type) void handle(message);
  });
}
