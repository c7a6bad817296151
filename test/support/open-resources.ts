/** Something a test opened and has to close: a pool, an app, a process, a database. */
export interface OpenResource {
  readonly kind: string;
  readonly name: string;
  /** Closes it by force; called at the end of the test file for what is still open then. */
  close(): unknown;
  /**
   * Closing it is left to the end of the file by design, so that finding it open is no leak. Such resources are closed
   * after the others.
   */
  readonly automatic?: boolean;
}

/** The environment of a test file reads the list through this key, from outside the file's own world. */
const KEY = Symbol.for('workflow-tests:open-resources');

const world = globalThis as unknown as Record<symbol, Set<OpenResource> | undefined>;
const open = (world[KEY] ??= new Set<OpenResource>());

/**
 * Notes that something was opened; the returned function notes that it was closed.
 *
 * A test file that ends with a resource still open fails, and names it. Example:
 * `const closed = registerOpen({ kind: 'pool', name: url, close: () => pool.end() }); await pool.end(); closed();`
 */
export function registerOpen(resource: OpenResource): () => void {
  open.add(resource);
  return () => {
    open.delete(resource);
  };
}
