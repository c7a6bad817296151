import type { TestingModule } from '@nestjs/testing';
import { DefinitionsService, type WorkflowModuleOptions, type WorkflowTemplate } from 'nestjs-workflow-engine';
import { buildApp, startApp } from './app.js';
import { EXPENSES } from './expenses.js';

const PAYMENT: WorkflowTemplate = {
  id: 'payment',
  name: 'Payment',
  parameters: {
    type: 'object',
    properties: { method: { type: 'string' }, payee: { type: 'string' } },
    required: ['method', 'payee'],
  },
  example: { method: 'sepa', payee: 'acme' },
  graph: {
    input: { type: 'object', properties: { payee: { type: 'string' } }, required: ['payee'] },
    nodes: [
      { id: 'known', type: 'condition', config: { if: 'input.payee == {{payee}}' } },
      { id: 'pay', type: 'acme.pay', config: { method: { $parameter: 'method' } } },
      { id: 'done', type: 'end' },
    ],
    edges: [
      { from: 'known', outcome: 'true', to: 'pay' },
      { from: 'known', outcome: 'false', to: 'done' },
      { from: 'pay', to: 'done' },
    ],
  },
};

describe('templates of graphs', () => {
  let app: TestingModule;
  let definitions: DefinitionsService;

  beforeAll(async () => {
    app = await startApp({ providers: EXPENSES, workflow: { templates: [PAYMENT] } });
    definitions = app.get(DefinitionsService);
  });
  afterAll(() => app.close());

  it('GRAPH-2: every template gives a valid graph with its example, and says what it takes', async () => {
    const templates = await definitions.templates();
    expect(templates.map(({ id }) => id)).toEqual(['two-step-approval', 'approval-above', 'payment']);
    for (const { id, example, parameters } of templates) {
      const graph = await definitions.fromTemplate(id, example, { as: `of-${id}` });
      expect(graph).toMatchObject({ id: `of-${id}` });
      expect(await definitions.validate(graph)).toEqual({ valid: true, problems: [] });
      expect(parameters).toMatchObject({ type: 'object', required: expect.any(Array) });
    }
  });

  it('GRAPH-3: a parameter with quotes is a text, and never becomes an expression', async () => {
    const payee = 'a" || true || "b';
    const graph = await definitions.fromTemplate('payment', { method: 'x', payee }, { as: 'tricky' });
    const way = async (given: string) =>
      (await definitions.dryRun(graph, { payee: given }, { outcomes: {} })).path[0]!.outcome;
    expect(await way(payee)).toBe('true');
    expect(await way('anybody')).toBe('false');
  });

  it('GRAPH-2: parameters that do not fit, and templates that there are not, are refused', async () => {
    await expect(definitions.fromTemplate('payment', { method: 7 }, { as: 'x' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    await expect(definitions.fromTemplate('paymint', {}, { as: 'x' })).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining('did you mean "payment"?'),
    });
    await expect(definitions.fromTemplate('payment', PAYMENT.example, { as: '' })).rejects.toThrow();
  });

  it.each<[string, Partial<WorkflowTemplate>, string]>([
    ['whose graph is not valid', { graph: { ...PAYMENT.graph, edges: [] } }, 'graph at $.nodes[0]'],
    ['whose example does not fit', { example: {} }, 'templates.0.example'],
    ['whose graph names no parameter of it', { graph: { ...PAYMENT.graph, name: '{{nobody}}' } }, 'example.nobody'],
    ['whose parameters are no JSON Schema', { parameters: { type: 'list' } }, 'templates.0.parameters'],
  ])('GRAPH-2: a template %s stops the app', async (_case, wrong, place) => {
    const workflow: WorkflowModuleOptions = { templates: [{ ...PAYMENT, ...wrong }] };
    const broken = await buildApp({ providers: EXPENSES, workflow }).catch((error: Error) => error);
    const error =
      broken instanceof Error
        ? broken
        : await broken.init().then(
            () => undefined,
            (thrown: Error) => thrown,
          );
    if (!(broken instanceof Error)) await broken.close();
    expect(error?.message).toContain(place);
  });
});
