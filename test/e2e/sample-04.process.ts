import { announce } from '../support/process-side.js';

/** Runs sample 04 and announces what it prints, so that a test can wait for it. */
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = ((text: string, ...rest: []) => {
  announce('printed', { text: String(text) });
  return write(text, ...rest);
}) as typeof process.stdout.write;

void import('../../sample/04-expenses/main.js');
