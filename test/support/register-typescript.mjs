/** `node --import ./test/support/register-typescript.mjs file.ts` runs a TypeScript file of this repository. */
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
