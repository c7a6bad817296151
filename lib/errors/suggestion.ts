/**
 * The known name that a mistyped one most likely stands for, or undefined when none is near.
 *
 * @example closestName('documnet-analysis', ['document-analysis', 'invoices']) // 'document-analysis'
 */
export function closestName(name: string, known: readonly string[]): string | undefined {
  const wanted = name.slice(0, 100).toLowerCase();
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.slice(0, 100).toLowerCase());
    if (best === undefined || distance < best.distance) best = { name: candidate, distance };
  }
  // A third of the letters wrong is still a slip of the fingers; more is another name.
  return best !== undefined && best.distance <= Math.max(1, Math.floor(wanted.length / 3)) ? best.name : undefined;
}

function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = above[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, above[column]! + 1, current[column - 1]! + 1));
    }
    above = current;
  }
  return above[b.length]!;
}
