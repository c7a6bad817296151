import type { ErrorCodeEntry } from './error-code-entry.js';

export const STORE_CODES = {
  MIGRATIONS_BEHIND: {
    text: 'The workflow tables[[ in schema "{schema}"]] are behind this version of the package. Pending: {pending}. Run `npx nestjs-workflow-engine migrate`, your own TypeORM migrations, or set `migrations: \'run\'`.',
    meaning: 'Tables are missing or older than the package.',
    retried: false,
    byHand: false,
  },
  STORE_UNAVAILABLE: {
    text: 'The database did not answer while {doing}[[: {reason}]]. Nothing was decided from it; the engine tries again.',
    meaning: 'The database could not be reached, or the connection broke.',
    retried: true,
    byHand: true,
  },
  ROOT_MANAGER: {
    text: '{method} got the root EntityManager, which is in no transaction. Pass the manager that dataSource.transaction(async (manager) => …) gives you, or none.',
    meaning: '`manager` was the root EntityManager instead of one of an open transaction.',
    retried: false,
    byHand: true,
  },
  ISOLATION_LEVEL: {
    text: '{method} runs in a transaction that is {isolation}, in which a wake-up could be lost. Use READ COMMITTED for it[[ ({hint})]].',
    meaning: 'A transaction, or the database by default, is stricter than READ COMMITTED.',
    retried: false,
    byHand: true,
  },
  UNSUPPORTED_DATABASE: {
    text: 'The DataSource is of type "{database}"[[ ({version})]], which cannot hold workflows: {needs}.',
    meaning: 'The database is of a kind or version that the engine cannot use.',
    retried: false,
    byHand: false,
  },
} as const satisfies Record<string, ErrorCodeEntry>;
