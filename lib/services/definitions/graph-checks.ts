import { foldIdentifier } from '../../engine/definition/identifier.js';
import { type GraphProblem, type GraphValidation, namedWorkflows, validateGraph } from '../../engine/graph/index.js';
import { formatMessage } from '../../errors/index.js';
import type { EnginePort } from '../engine-port.js';

/** Checks graphs against what there is in this app, and what the owner may start. */
export async function checkGraph(
  given: unknown,
  ownerId: string | null,
  { graphs, store }: Pick<EnginePort, 'graphs' | 'store'>,
): Promise<GraphValidation> {
  const own = idOf(given);
  const named = namedIn(given).filter((id) => id !== own);
  const startable = await store.startableIds(named, ownerId);
  const checked = await validateGraph(
    given,
    graphs.catalogue(own === undefined ? startable : [...startable, own], ownerId),
  );
  if (own === undefined || !isTaken(own, graphs.codeIds())) return checked;
  const params = { id: own };
  const taken: GraphProblem = {
    code: 'WORKFLOW_ID_TAKEN',
    path: '$.id',
    message: formatMessage('WORKFLOW_ID_TAKEN', params),
    params,
  };
  return { ok: false, problems: [taken, ...(checked.ok ? [] : checked.problems)] };
}

/** Ids that read alike are taken for one. */
const isTaken = (id: string, codeIds: readonly string[]): boolean =>
  codeIds.some((one) => foldIdentifier(one) === foldIdentifier(id));

/** None of what can't even be read, which is for the check to say. */
function namedIn(given: unknown): string[] {
  try {
    return namedWorkflows(given).slice(0, MOST_NAMED);
  } catch {
    return [];
  }
}

/** As many as nodes and their escalations may name. */
const MOST_NAMED = 1_000;

function idOf(given: unknown): string | undefined {
  try {
    const { id } = given as { id?: unknown };
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}
