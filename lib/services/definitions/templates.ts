import { inputCheck, inputSchema, validateGraph, type GraphCatalogue } from '../../engine/graph/index.js';
import { BUILT_IN_TEMPLATES, fillTemplate, type WorkflowTemplate } from '../../engine/templates/index.js';
import { closestName, InvalidInputError, InvalidOptionsError, type OptionProblem } from '../../errors/index.js';
import { definitionIdOf } from './definition-options.js';

/** A template as whoever fills in a form sees it. */
export type TemplateView = Omit<WorkflowTemplate, 'graph'>;

/** The templates of the app, and those that every app has; one of the app's stands for a built-in one of the same id. */
export class Templates {
  readonly #byId: ReadonlyMap<string, WorkflowTemplate>;

  constructor(private readonly own: readonly WorkflowTemplate[]) {
    this.#byId = new Map([...BUILT_IN_TEMPLATES, ...own].map((template) => [template.id, template]));
  }

  list(): TemplateView[] {
    return [...this.#byId.values()].map(({ graph: _, ...view }) => structuredClone(view));
  }

  /** @throws InvalidOptionsError for a template or an id that is none, InvalidInputError for parameters that do not fit */
  async fill(id: string, parameters: unknown, as: string, where: string): Promise<object> {
    const graphId = definitionIdOf(as, where);
    const template = this.#byId.get(id);
    if (!template) {
      const known = [...this.#byId.keys()];
      const near = closestName(String(id), known);
      const hint = near === undefined ? `there are ${known.join(', ')}` : `did you mean "${near}"?`;
      throw new InvalidOptionsError({ where, problems: [{ path: 'id', message: `is no template; ${hint}` }] });
    }
    const filled = await fill(template, parameters, graphId);
    if ('issues' in filled) throw new InvalidInputError({ what: `template ${id}`, issues: filled.issues });
    return filled.graph;
  }

  /** A template that gives no valid graph would fail whoever uses it: it stops the app instead. @throws InvalidOptionsError */
  async check(catalogue: GraphCatalogue): Promise<void> {
    const problems: OptionProblem[] = [];
    const seen = new Set<string>();
    for (const [at, template] of this.own.entries()) {
      const complain = (path: string, message: string): void =>
        void problems.push({ path: `templates.${at}.${path}`, message });
      if (seen.has(template.id)) complain('id', `is the id of another template: ${template.id}`);
      seen.add(template.id);
      const schema = inputSchema.safeParse(template.parameters);
      for (const { path, message } of schema.error?.issues ?? []) complain(['parameters', ...path].join('.'), message);
      if (!schema.success) continue;
      const filled = await fill(template, template.example, 'example');
      if ('issues' in filled) {
        for (const { path = [], message } of filled.issues) complain(['example', ...path].join('.'), message);
        continue;
      }
      const checked = await validateGraph(filled.graph, { ...catalogue, published: false });
      if (!checked.ok) for (const { path, message } of checked.problems) complain(`graph at ${path}`, message);
    }
    if (problems.length > 0) throw new InvalidOptionsError({ problems });
  }
}

interface Issue {
  readonly path?: readonly (string | number)[];
  readonly message: string;
}

async function fill(
  template: WorkflowTemplate,
  parameters: unknown,
  id: string,
): Promise<{ readonly graph: object } | { readonly issues: readonly Issue[] }> {
  const schema = inputCheck(template.parameters as Parameters<typeof inputCheck>[0]);
  const parsed = await schema!.safeParseAsync(parameters);
  if (!parsed.success) return { issues: parsed.error.issues as readonly Issue[] };
  const filled = fillTemplate(template, parameters as Readonly<Record<string, unknown>>, id);
  if ('graph' in filled) return filled;
  return { issues: filled.missing.map((name) => ({ path: [name], message: 'is needed by the graph' })) };
}
