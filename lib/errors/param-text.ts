const MAX_PARAM_LENGTH = 20_000;

interface Remark {
  path?: unknown;
  place?: unknown;
  message?: unknown;
  problem?: unknown;
  todo?: unknown;
}

/**
 * How a parameter reads inside a message: texts as they are, lists with commas, lists of remarks (zod issues, option
 * problems, complaints about a definition) as a line each. Nothing reads as an empty text.
 */
export function renderParam(value: unknown): string {
  const text = render(value);
  return text.length > MAX_PARAM_LENGTH ? `${text.slice(0, MAX_PARAM_LENGTH)}…` : text;
}

function render(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid date' : value.toISOString();
  if (Array.isArray(value)) return renderList(value);
  if (typeof value === 'object') return isRemark(value) ? renderRemark(value) : JSON.stringify(value);
  return String(value);
}

function renderList(values: readonly unknown[]): string {
  if (values.some(isRemark)) return values.map((value) => `\n  - ${render(value)}`).join('');
  return values.map(render).join(', ');
}

function isRemark(value: unknown): value is Remark {
  return typeof value === 'object' && value !== null && ('message' in value || 'problem' in value);
}

function renderRemark({ path, place, message, problem, todo }: Remark): string {
  const where = place === undefined ? renderPath(path) : render(place);
  const what = render(problem ?? message);
  return [where === '' ? what : `${where}: ${what}`, render(todo)].filter((part) => part !== '').join(' ');
}

function renderPath(path: unknown): string {
  return Array.isArray(path) ? path.map(String).join('.') : render(path);
}
