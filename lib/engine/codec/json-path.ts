const MAX_PATH_LENGTH = 500;
const IDENTIFIER = /^[A-Za-z_$][\w$]{0,99}$/;

/**
 * A place inside a value, as it is written in code.
 *
 * @example jsonPath('$', ['items', 3, 'at']) // '$.items[3].at'
 */
export function jsonPath(root: string, keys: readonly (string | number)[]): string {
  let path = root;
  for (const key of keys) {
    if (path.length > MAX_PATH_LENGTH) return `${path.slice(0, MAX_PATH_LENGTH)}…`;
    if (typeof key === 'number') path += `[${key}]`;
    else path += IDENTIFIER.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 100))}]`;
  }
  return path;
}
