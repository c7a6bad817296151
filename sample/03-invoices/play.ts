import { InvoiceApp } from './story/invoice-app.js';

/** Plays the story on a database of its own, prints what happened, and leaves nothing behind. */
export async function play(out: NodeJS.WritableStream): Promise<void> {
  const print = (text: string): void => void out.write(`${text}\n`);
  print('Starting PostgreSQL and the app …');
  const app = await InvoiceApp.open(process.env.DATABASE_URL);
  try {
    const [nora, cleo, sven] = [app.as('nora'), app.as('cleo'), app.as('sven')];
    print('Team North has Nora, its lead, and the clerk Cleo. Team South has Sven, its lead.\n');

    const small = (await cleo.create('Ada', 400)).body;
    print(`Cleo  writes an invoice over 400:    ${(await cleo.ended(small.id)).body.status}`);
    const large = (await cleo.create('Ben', 4_000)).body;
    print(`Cleo  writes an invoice over 4,000:  ${(await cleo.ended(large.id)).body.problem}`);
    print(`Cleo  tries it again:                ${(await cleo.retry(large.id, 'it is urgent')).body.message}`);

    print(
      `Sven  sees ${(await sven.list()).body.length} invoices, and of that one:   ${(await sven.get(large.id)).status}`,
    );
    const count = 'SELECT count(*)::int AS n FROM workflow_runs';
    const seen = async (team: string | null): Promise<unknown> => (await app.database.as(team, count))[0]!.n;
    print(
      `SQL   runs that are there: North ${await seen('north')}, South ${await seen('south')}, nobody ${await seen(null)}`,
    );

    await app.database.admin(`UPDATE members SET role = 'lead' WHERE id = 'cleo'`);
    print('Cleo  is made a lead: her run, which acts for her, may go on');
    await nora.retry(large.id, 'Cleo is a lead now');
    print(`Nora  tries it again:                ${(await nora.ended(large.id)).body.status}`);

    await app.database.admin(`UPDATE teams SET suspended = true WHERE id = 'south'`);
    const late = (await sven.create('Cy', 5)).body;
    print(`Sven  whose team is suspended:       ${(await sven.ended(late.id)).body.problem}\n`);

    for (const { who, what, allowed, why } of (await nora.audit()).body.toReversed())
      print(`audit ${who} asked for ${what}: ${allowed ? 'allowed' : 'denied'} (${why})`);
  } finally {
    await app.close();
  }
}
