import { randomUUID } from 'node:crypto';
import { tableNames, type TableNames } from '../../../lib/persistence/table-names.js';

interface Queryable {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** A row in each table that holds rows of owners, for each of these. */
export async function fillTables(
  client: Queryable,
  owners: readonly (string | null)[],
  t: TableNames = tableNames(),
): Promise<void> {
  for (const owner of owners) {
    const [run, stageRun] = [randomUUID(), randomUUID()];
    const rows: [text: string, ...values: unknown[]][] = [
      [
        `INSERT INTO ${t.runs} (owner_id, id, definition_id, definition_version, definition_key, status, input) VALUES ($1, $2, 'd', 1, 'd@1#f', 'RUNNING', '{}')`,
        run,
      ],
      [
        `INSERT INTO ${t.stageRuns} (owner_id, run_id, id, node, position, key, stage, ordinal, status) VALUES ($1, $2, $3, 'n', 0, 'k', 's', 1, 'PENDING')`,
        run,
        stageRun,
      ],
      [
        `INSERT INTO ${t.nodeVisits} (owner_id, run_id, generation, node, visit, open) VALUES ($1, $2, 1, 'n', 1, 1)`,
        run,
      ],
      [
        `INSERT INTO ${t.attempts} (owner_id, run_id, stage_run_id, attempt, code, message) VALUES ($1, $2, $3, 1, 'EXCEPTION', 'x')`,
        run,
        stageRun,
      ],
      [
        `INSERT INTO ${t.jobs} (owner_id, run_id, stage_run_id, id, definition_key, queue) VALUES ($1, $2, $3, $4, 'd@1#f', 'default')`,
        run,
        stageRun,
        randomUUID(),
      ],
      [`INSERT INTO ${t.idempotencyKeys} (owner_id, run_id, digest) VALUES ($1, $2, $3)`, run, Buffer.from(run)],
      [`INSERT INTO ${t.outbox} (owner_id, run_id, slot, events) VALUES ($1, $2, 0, '[]')`, run],
      [
        `INSERT INTO ${t.steps} (owner_id, run_id, stage_run_id, key, kind, status) VALUES ($1, $2, $3, 'a', 'run', 'completed')`,
        run,
        stageRun,
      ],
      [`INSERT INTO ${t.events} (owner_id, run_id, id, key) VALUES ($1, $2, $3, 'k')`, run, randomUUID()],
      [
        `INSERT INTO ${t.annotations} (owner_id, run_id, id, key, value, scope) VALUES ($1, $2, $3, 'k', '1', 'run')`,
        run,
        randomUUID(),
      ],
      [
        `INSERT INTO ${t.logLines} (owner_id, run_id, stage_run_id, id, attempt, level, message) VALUES ($1, $2, $3, $4, 1, 'log', 'x')`,
        run,
        stageRun,
        randomUUID(),
      ],
      [
        `INSERT INTO ${t.audit} (owner_id, run_id, id, action, allowed, source) VALUES ($1, $2, $3, 'cancel', true, 'test')`,
        run,
        randomUUID(),
      ],
      [
        `INSERT INTO ${t.approvalRounds} (owner_id, run_id, stage_run_id, id, budget, node, terms) VALUES ($1, $2, $3, $4, 0, 'n', '{}')`,
        run,
        stageRun,
        randomUUID(),
      ],
      [
        `INSERT INTO ${t.approvalAsks} (owner_id, run_id, round_id, stage, approver, place, groups, weight, holder, path, open) VALUES ($1, $2, $3, 0, 'u1', 0, '[]', 1, 'u1', '[]', true)`,
        run,
        randomUUID(),
      ],
      [
        `INSERT INTO ${t.approvalDecisions} (owner_id, run_id, round_id, id, stage, approver, decided_by, answer) VALUES ($1, $2, $3, 'd', 0, 'u1', 'u1', 'approved')`,
        run,
        randomUUID(),
      ],
    ];
    for (const [text, ...values] of rows) await client.query(text, [owner, ...values]);
  }
}
