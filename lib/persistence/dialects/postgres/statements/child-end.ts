import { ChildRunError } from '../../../../errors/index.js';

/** Stand for parameters of a text until it is SQL. */
const [ID, STATUS, CODE, MESSAGE] = ['{1}', '{2}', '{3}', '{4}'];

/** The text of the catalogue, as an SQL expression over the child's row. */
function messageOf(child: string): string {
  const text = (failureCode: string | null, failureMessage: string | null): string =>
    new ChildRunError({ runId: ID, status: STATUS, failureCode, failureMessage }).message
      .split(/(\{[1-4]\})/)
      .map((part) => columns[part] ?? `'${part.replaceAll("'", "''")}'`)
      .join(' || ');
  const columns: Readonly<Record<string, string>> = {
    [ID]: `${child}.id`,
    [STATUS]: `${child}.status`,
    [CODE]: `${child}.failure_code`,
    [MESSAGE]: reasonOf(child),
  };
  return `CASE WHEN ${child}.failure_code IS NULL
      THEN CASE WHEN ${reasonOf(child)} IS NULL THEN ${text(null, null)} ELSE ${text(null, MESSAGE)} END
      ELSE CASE WHEN ${reasonOf(child)} IS NULL THEN ${text(CODE, null)} ELSE ${text(CODE, MESSAGE)} END END`;
}

/** What its failure says, or why it was cancelled. */
const reasonOf = (child: string): string => `coalesce(${child}.failure_message, ${child}.cancel_reason)`;

/**
 * Failure record of the step that waited for a child which failed or was cancelled, as an SQL expression of type json.
 *
 * @param child alias of the child's row in `runs`
 */
export const childFailure = (child: string): string => `
  json_build_object('code', 'CHILD_RUN_FAILED', 'name', 'ChildRunError', 'message', ${messageOf(child)},
    'params', json_build_object('runId', ${child}.id, 'status', ${child}.status, 'failureCode', ${child}.failure_code, 'failureMessage', ${reasonOf(child)}),
    'retryable', false)`;

/** Columns of a ledger row that its child's end settles, as assignments. It is no longer open, and has no place yet. */
export const endOfChild = (child: string, now: string): string => `
  status = CASE WHEN ${child}.status = 'COMPLETED' THEN 'completed' ELSE 'failed' END, open = false, seq = NULL, fired_at = ${now},
  result = CASE WHEN ${child}.status = 'COMPLETED' THEN ${child}.output END,
  failure = CASE WHEN ${child}.status <> 'COMPLETED' THEN ${childFailure(child)} END`;
