import { execFile } from 'node:child_process';

export interface CommandOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What a command printed. Rejects with all of it when the exit code is not 0. */
export function run(command: string, args: readonly string[], { cwd, env = {} }: CommandOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd, env: { ...outerEnvironment(), ...env }, maxBuffer: 1 << 26 }, (error, out, err) => {
      if (error === null) resolve(out);
      else reject(new Error(`${command} ${args.join(' ')} ended with ${String(error.code)}\n${out}\n${err}`));
    });
  });
}

/** Without what `npm test` and Jest tell their children: a host's shell has none of it. */
function outerEnvironment(): NodeJS.ProcessEnv {
  const own =
    /^(npm_(package|lifecycle|config_local_prefix|command|execpath)|JEST_|WF_|NODE_ENV$|INIT_CWD$|DATABASE_URL$)/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
}
