import { celLiteral } from './cel-literal.js';
import type { WorkflowTemplate } from './template.js';

const PLACE = /\{\{\s*([A-Za-z_][\w-]*)\s*\}\}/g;

/** The graph of a template with these parameters, which were checked; or the names that it has no parameter for. */
export function fillTemplate(
  template: Pick<WorkflowTemplate, 'graph'>,
  parameters: Readonly<Record<string, unknown>>,
  id: string,
): { readonly graph: Readonly<Record<string, unknown>> } | { readonly missing: readonly string[] } {
  const missing = new Set<string>();
  const valueOf = (name: string): unknown => {
    if (Object.hasOwn(parameters, name)) return parameters[name];
    missing.add(name);
    return null;
  };
  const fill = (part: unknown): unknown => {
    if (typeof part === 'string') return part.replace(PLACE, (_, name: string) => celLiteral(valueOf(name)));
    if (Array.isArray(part)) return part.map(fill);
    if (typeof part !== 'object' || part === null) return part;
    const whole = wholeOf(part);
    if (whole !== undefined) return structuredClone(valueOf(whole));
    return Object.fromEntries(Object.entries(part).map(([name, field]) => [name, fill(field)]));
  };
  const graph = { ...(fill(template.graph) as Record<string, unknown>), id };
  return missing.size > 0 ? { missing: [...missing] } : { graph };
}

/** The parameter whose value stands here whole. */
function wholeOf(part: object): string | undefined {
  const { $parameter: name, ...others } = part as { $parameter?: unknown };
  return typeof name === 'string' && Object.keys(others).length === 0 ? name : undefined;
}
