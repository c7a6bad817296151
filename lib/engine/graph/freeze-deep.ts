/** Freezes JSON, all of it. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  Object.values(value).forEach(freezeDeep);
  return Object.freeze(value);
}
