/** A property of anything at all; undefined where reading it throws (a getter, a proxy, a revoked one). */
export function readSafely(from: unknown, key: PropertyKey): unknown {
  if ((typeof from !== 'object' || from === null) && typeof from !== 'function') return undefined;
  try {
    return (from as Record<PropertyKey, unknown>)[key];
  } catch {
    return undefined;
  }
}
