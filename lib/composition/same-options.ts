/**
 * Whether two sets of options mean the same. Functions are the same when they are one, or read the same: a module that is
 * imported in two places often writes `(cls) => cls.get('teamId')` twice. Anything else that is no plain data, a
 * DataSource for example, must be one object.
 */
export function sameOptions(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one === 'function' && typeof other === 'function') return String(one) === String(other);
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => sameOptions(item, other[at]));
  }
  if (!isPlain(one) || !isPlain(other)) return false;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].every((key) => sameOptions(one[key], other[key]));
}

/** The first option in which two sets differ, for a sentence about it. */
export function firstDifference(
  one: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
): string {
  return Object.keys({ ...one, ...other }).find((key) => !sameOptions(one[key], other[key])) ?? '';
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
