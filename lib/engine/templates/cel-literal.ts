/**
 * A JSON value as a literal of the expression language, which evaluates to the value and to nothing else.
 *
 * @example celLiteral('say "hi"') // '"say \\"hi\\""'
 */
export function celLiteral(value: unknown): string {
  if (typeof value === 'number') return value < 0 ? `(${value})` : String(value);
  if (typeof value === 'string') return textLiteral(value);
  if (Array.isArray(value)) return `[${value.map(celLiteral).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([name, field]) => `${textLiteral(name)}: ${celLiteral(field)}`);
    return `{${fields.join(', ')}}`;
  }
  return String(value);
}

/** JSON's escapes are CEL's; what a text may not hold as such is written out too. Half a character is no text there, and refused with the graph. */
function textLiteral(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\ud7ff\ue000-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
