/**
 * Failure record of the step that waited for a child which failed or was cancelled, as an SQL expression of type json.
 *
 * @param child alias of the child's row in `runs`
 */
export const childFailure = (child: string): string => `
  json_build_object('code', 'CHILD_RUN_FAILED', 'name', 'ChildRunError',
    'message', 'Child run ' || ${child}.id || ' ended ' || ${child}.status || coalesce(': ' || coalesce(${child}.failure_message, ${child}.cancel_reason), ''),
    'params', json_build_object('runId', ${child}.id, 'status', ${child}.status, 'failureCode', ${child}.failure_code, 'failureMessage', ${child}.failure_message),
    'retryable', false)`;

/** Columns of a ledger row that its child's end settles, as assignments. It is no longer open, and has no place yet. */
export const endOfChild = (child: string, now: string): string => `
  status = CASE WHEN ${child}.status = 'COMPLETED' THEN 'completed' ELSE 'failed' END, open = false, seq = NULL, fired_at = ${now},
  result = CASE WHEN ${child}.status = 'COMPLETED' THEN ${child}.output END,
  failure = CASE WHEN ${child}.status <> 'COMPLETED' THEN ${childFailure(child)} END`;
