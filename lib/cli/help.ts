export const HELP = `Usage: nestjs-workflow-engine <command> [options]

Commands
  migrate   create or update the tables, with a role that may do so
  status    say whether the tables are up to date
  sql       print what migrate would run, for a review or psql; needs no database

Options
  --url <url>        connection URL of the database (else DATABASE_URL)
  --schema <name>    schema of the tables, created if missing (else the connection's current one)
  --prefix <text>    beginning of the tables' names (else workflow_)
  --grant <role>     with migrate and sql: let this role read and write the rows
  -h, --help         print this

Row-level security
  --row-level-security   put it on all tables; with status: ask for it too
  --dispatcher <role>    the login of the engine (owners.rowLevelSecurity.dispatcher in the app); left out,
                         the role of --grant may switch to the dispatcher's (owners.rowLevelSecurity: true)

Exit codes
  0  done, or up to date
  1  the database could not be reached, or refused
  2  wrong usage
  3  status: the tables are behind
`;
