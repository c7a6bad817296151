import { InvalidOptionsError } from '../../errors/index.js';
import type { PostgresOptions } from './engine-data-source.js';

/** Who logs in for the engine: a role on the host's server, or a connection URL of its own. */
export type EngineLogin = { readonly username: string; readonly password?: string } | { readonly url: string };

/**
 * The host's options with another login. A URL's own name and password win over all else in TypeORM and `pg`, and so does
 * `extra`: they are replaced wherever they may stand.
 *
 * @throws InvalidOptionsError where the host's URL can't be read: it may name several servers
 */
export function loginOptions(options: PostgresOptions, login: EngineLogin): PostgresOptions {
  const { user: _user, password: _password, ...extra } = (options.extra ?? {}) as Record<string, unknown>;
  const { replication, ...rest } = options;
  if ('url' in login) {
    const { host: _host, port: _port, username: _name, password: _word, database: _base, ...others } = rest;
    return { ...others, extra, url: login.url };
  }
  const { username, password } = login;
  const as = <T extends { readonly url?: string }>(place: T): T => ({
    ...place,
    username,
    password,
    ...(place.url !== undefined && { url: urlAs(place.url, username, password) }),
  });
  return {
    ...as(rest),
    extra,
    ...(replication && { replication: { ...replication, master: as(replication.master) } }),
  };
}

function urlAs(url: string, username: string, password: string | undefined): string {
  if (!URL.canParse(url)) {
    const message = "can't be put into the DataSource's url; give it { url } instead";
    throw new InvalidOptionsError({
      where: 'WorkflowModule',
      problems: [{ path: 'owners.rowLevelSecurity.dispatcher', message }],
    });
  }
  const parsed = new URL(url);
  parsed.username = encodeURIComponent(username);
  parsed.password = encodeURIComponent(password ?? '');
  for (const name of ['user', 'password']) parsed.searchParams.delete(name);
  return parsed.href;
}
