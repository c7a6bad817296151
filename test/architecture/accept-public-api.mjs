#!/usr/bin/env node
/** `npm run api:accept`: writes the list of what the package exports, so that a change of it is seen in review. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import '../support/register-typescript.mjs';

const { readPublicApi } = await import('./public-api.ts');
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const { text } = readPublicApi(root);
writeFileSync(new URL('public-api.txt', import.meta.url), text);
console.log(`${text.match(/^\w+ /gm)?.length ?? 0} exports.`);
