import type { ConfigCheck } from './config-check.js';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_DEPTH = 10;

/** Names that lead out of the data, to what every object of JavaScript shares (fault A11). */
const FORBIDDEN = new Set(['__proto__', 'prototype', 'constructor']);

/** Complains about a `field` that is no path of names: `priority`, `address.city`. */
export function checkFieldPath(field: string, { misfit }: ConfigCheck): void {
  const names = field.split('.');
  const forbidden = names.find((name) => FORBIDDEN.has(name) || name in Object.prototype);
  if (forbidden !== undefined) misfit(`"field" cannot go through "${forbidden}"`, ['field']);
  else if (names.length > MAX_DEPTH) misfit(`"field" has ${names.length} names, over ${MAX_DEPTH}`, ['field']);
  else if (!names.every((name) => NAME.test(name)))
    misfit('"field" must be names of letters, digits and "_", joined by ".": priority, address.city', ['field']);
}
