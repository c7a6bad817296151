import type { DataSource } from 'typeorm';
import { RUN_TRANSITIONS, STAGE_RUN_TRANSITIONS } from '../../lib/engine/state/transition-tables.js';

interface Guarded {
  readonly table: string;
  readonly chart: Record<string, { readonly from: readonly string[]; readonly to: string }>;
}

const CHARTS: readonly Guarded[] = [
  { table: 'workflow_runs', chart: RUN_TRANSITIONS },
  { table: 'workflow_stage_runs', chart: STAGE_RUN_TRANSITIONS },
];

/**
 * Lets no row move but by an arrow of its chart (RUN-2), whichever statement it is that moves it: the statement fails, and with it
 * whatever test met it.
 */
export async function guardStates(dataSource: DataSource): Promise<void> {
  for (const { table, chart } of CHARTS) {
    const arrows = Object.values(chart).flatMap(({ from, to }) => from.map((status) => `'${status} -> ${to}'`));
    await dataSource.query(`
      CREATE FUNCTION ${table}_arrows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF OLD.status || ' -> ' || NEW.status NOT IN (${arrows.join(', ')}) THEN
          RAISE EXCEPTION '${table}: no arrow of the chart leads % -> %', OLD.status, NEW.status;
        END IF;
        RETURN NULL;
      END $$`);
    await dataSource.query(`
      CREATE TRIGGER ${table}_arrows AFTER UPDATE OF status ON ${table} FOR EACH ROW
      WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION ${table}_arrows()`);
  }
}
