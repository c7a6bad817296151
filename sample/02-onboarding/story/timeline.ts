import type { OnboardingView } from '../app/onboarding-view.js';
import type { Wire } from './onboarding-client.js';

export interface Moment {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly who: string;
  readonly what: string;
}

/** What one onboarding's history tells, the lines of its billing included. */
export function momentsOf(view: Wire<OnboardingView>): Moment[] {
  const who = view.customer.name;
  const tell = (at: string, what: string): Moment => ({ at: Date.parse(at), who, what });
  const lines = view.stages.flatMap(({ log }) => log.map(({ at, message }) => tell(at, message)));
  const billing = (view.billing?.stages ?? []).flatMap(({ log }) =>
    log.map(({ at, message }) => tell(at, `billing: ${message}`)),
  );
  return [...lines, ...billing, ...(view.finishedAt ? [tell(view.finishedAt, endOf(view))] : [])];
}

/** Lines for people, in the order of time; days are counted from the first moment. */
export function renderTimeline(moments: readonly Moment[]): string {
  const sorted = moments.toSorted((a, b) => a.at - b.at);
  const begin = sorted[0]?.at ?? 0;
  const width = Math.max(3, ...sorted.map(({ who }) => who.length));
  return sorted.map(({ at, who, what }) => `${clock(at - begin)}  ${who.padEnd(width)}  ${what}`).join('\n');
}

function endOf({ status, output, failure, cancelReason }: Wire<OnboardingView>): string {
  switch (status) {
    case 'COMPLETED':
      return `= COMPLETED: ${(output as { outcome: string }).outcome}`;
    case 'FAILED':
      return `= FAILED ${failure?.code}: ${failure?.message}`;
    default:
      return `= ${status}: ${cancelReason}`;
  }
}

function clock(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `day ${String(Math.floor(minutes / 1_440)).padStart(2)} ${two(Math.floor(minutes / 60) % 24)}:${two(minutes % 60)}`;
}
