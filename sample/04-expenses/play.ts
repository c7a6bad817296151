import { ExpenseApp } from './story/expense-app.js';
import { BANK_STATEMENT, EXPENSE_APPROVAL } from './workflow/graphs.js';

/** Plays the story on a database of its own, prints what happened, and leaves nothing behind. */
export async function play(out: NodeJS.WritableStream): Promise<void> {
  const print = (...lines: readonly string[]): void => lines.forEach((line) => out.write(`${line}\n`));
  print('Starting PostgreSQL and the app …');
  const app = await ExpenseApp.open(process.env.DATABASE_URL);
  try {
    const [admin, ann, bob, cleo] = [app.as('admin'), app.as('ann'), app.as('bob'), app.as('cleo')];

    const draft = { ...EXPENSE_APPROVAL, edges: EXPENSE_APPROVAL.edges.slice(1) };
    print('', 'The admin forgets an edge, and asks what is wrong:');
    for (const { path, message } of (await admin.validate(draft)).body.problems) print(`  ${path}: ${message}`);

    print('', 'It is put right, and published.');
    await admin.publish(EXPENSE_APPROVAL);
    await admin.publish(BANK_STATEMENT);

    const history = async (id: string): Promise<void> => {
      const { status, moves, history: nodes } = (await ann.expense(id)).body;
      print(`  it is ${status}: ${moves.join(', ')}`, `  the run: ${nodes.join(' · ')}`);
    };

    print('', 'Ann files 400 for a train.');
    const small = (await ann.file(400, 'train to Turin')).body;
    print('', 'Before anything happens, the admin asks what the same would come to with 2,400:');
    const dry = (await admin.dryRun({ graph: EXPENSE_APPROVAL, input: { amount: 2_400 }, expense: small.id })).body;
    for (const { node, would, unknown = [], escalations = [] } of dry.path) {
      print(`  ${node}: ${would}`);
      for (const line of [...escalations, ...unknown.map((one) => `not known: ${one}`)]) print(`      ${line}`);
    }
    print('', 'Nobody is asked about 400; the bank books it, and says so by a signed webhook:');
    await app.settle();
    await app.bankBooks(small.id, 'r-1');
    await history(small.id);

    print(
      '',
      'Ann files 2,400 for a fair. Two of three leads must agree; Bob does, and then nothing happens for two days:',
    );
    const large = (await ann.file(2_400, 'fair in Milan')).body;
    await app.settle();
    await bob.decide(large.runId, 'approved');
    await app.travel('2 days');
    print(`  told: ${app.told.join('; ')}`);
    await cleo.decide(large.runId, 'approved');
    await app.settle();
    print(`  a message with a wrong signature: ${(await app.bankBooks(large.id, 'r-2', WRONG)).status}`);
    await app.bankBooks(large.id, 'r-2');
    await history(large.id);

    print('', 'Ann files 9,000 for a sofa. Bob and Cleo do not agree:');
    const sofa = (await ann.file(9_000, 'sofa')).body;
    await app.settle();
    await bob.decide(sofa.runId, 'rejected');
    await cleo.decide(sofa.runId, 'rejected');
    await app.settle();
    await history(sofa.id);
    print('', `The bank was asked for ${app.orders.join(' and ')}.`);
  } finally {
    await app.close();
  }
}

const WRONG = `whsec_${Buffer.from('somebody else, who is not a bank').toString('base64')}`;
