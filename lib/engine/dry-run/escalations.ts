import { formatDuration } from '../time/index.js';
import type { CompiledEscalation } from '../graph/index.js';
import type { DryPlace } from './look.js';
import { peopleOf } from './people.js';
import { named } from './shown.js';

/** What happens at a node by time, one sentence each, earliest first. */
export async function escalationsAt(place: DryPlace): Promise<string[]> {
  const { escalations } = place.node;
  const inOrder = [...escalations].sort((a, b) => a.afterMs - b.afterMs);
  const texts: string[] = [];
  for (const escalation of inOrder) {
    const after = `After ${formatDuration(escalation.afterMs)}, if it is still open:`;
    texts.push(`${after} ${await actionText(escalation, place)}.`);
  }
  return texts;
}

async function actionText(escalation: CompiledEscalation, place: DryPlace): Promise<string> {
  const { type, action } = escalation;
  switch (type) {
    case 'notify':
      return `tells ${await peopleText(escalation, place)}`;
    case 'reassign':
      return `asks too: ${await peopleText(escalation, place)}`;
    case 'start_workflow':
      return `starts ${String(action.workflow)}`;
    case 'take_edge': {
      const outcome = String(action.outcome);
      return `ends it with "${outcome}", on to ${place.node.edges.get(outcome)}`;
    }
    default:
      return `runs the stage ${type}`;
  }
}

async function peopleText({ to, action }: CompiledEscalation, { node, values, host }: DryPlace): Promise<string> {
  if (to === null) return 'nobody';
  const people = await peopleOf(to, node.id, values, host);
  const asked = typeof action.to === 'string' ? action.to : 'those named';
  if (people.kind === 'known') return named(people.people.map(({ id }) => id)) || `nobody (${asked})`;
  return `those of ${asked}`;
}
