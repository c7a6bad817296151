import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The app's own tables. Invoices and bookings are guarded like the engine's, by the same setting: a session sees the rows of the team
 * that `app.owner_id` names.
 */
export class Tables1764000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE teams (id text PRIMARY KEY, name text NOT NULL, suspended boolean NOT NULL DEFAULT false);
      CREATE TABLE members (id text PRIMARY KEY, "teamId" text NOT NULL REFERENCES teams, name text NOT NULL, role text NOT NULL);
      CREATE TABLE invoices (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), "teamId" text NOT NULL REFERENCES teams, customer text NOT NULL,
        amount int NOT NULL, status text NOT NULL DEFAULT 'new');
      CREATE TABLE bookings (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), "teamId" text NOT NULL REFERENCES teams,
        "invoiceId" uuid NOT NULL REFERENCES invoices, amount int NOT NULL)`);
    for (const table of ['invoices', 'bookings']) {
      await runner.query(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`);
      await runner.query(`CREATE POLICY team ON ${table}
        USING ("teamId" = NULLIF(current_setting('app.owner_id', true), '')) WITH CHECK ("teamId" = NULLIF(current_setting('app.owner_id', true), ''))`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE bookings, invoices, members, teams');
  }
}
