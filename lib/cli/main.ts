#!/usr/bin/env node
import { runCli } from './run-cli.js';

const output = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
};

// Not `process.exit`, which would cut off what is still being written to a pipe.
void runCli(process.argv.slice(2), process.env, output).then((code) => (process.exitCode = code));
