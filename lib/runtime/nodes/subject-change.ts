import { InvalidOptionsError } from '../../errors/index.js';
import type { SubjectChange } from '../../interfaces/index.js';
import type { NodeWork } from './node-work.js';

/** Who changes the subject, and which. @throws InvalidOptionsError where the run is about nothing */
export function changeOf({ node, ctx, owner: ownerId }: NodeWork): SubjectChange {
  const { id: runId, subject } = ctx.run;
  if (subject !== null) return { subject, ownerId, actor: ctx.actor, runId };
  const message = `run ${runId} is about nothing: start it with { subject: { type, id } }`;
  throw new InvalidOptionsError({ where: `Node ${node.id}`, problems: [{ path: 'subject', message }] });
}
