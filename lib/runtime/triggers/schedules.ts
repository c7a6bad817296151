import { evaluateMapping, triggerNote, type CompiledTrigger, type TriggerSpecs } from '../../engine/graph/index.js';
import { ExpressionValues } from '../../engine/expression/index.js';
import type { ClaimedSchedule, ScheduleMove, WorkflowStore } from '../../engine/ports/index.js';
import { CronText, type DueInstants, dueInstants, jitterMs, Schedule, ZoneClock } from '../../engine/schedule/index.js';
import { parseDurationMs } from '../../engine/time/index.js';
import { isShuttingDown, WorkflowError } from '../../errors/index.js';
import { errorLine, errorStack, type RuntimeLog } from '../background/runtime-log.js';
import { ScheduleTally } from './schedule-tally.js';
import type { StartTriggered } from './triggered-start.js';

export interface SchedulesParts {
  readonly store: Pick<WorkflowStore, 'claimSchedules' | 'moveSchedules' | 'nextScheduleIn' | 'isTransient'>;
  readonly specs: TriggerSpecs;
  readonly start: StartTriggered;
  readonly log: RuntimeLog;
  /** `wake.batch`. */
  readonly batch: number;
}

export interface SchedulesReport {
  readonly started: number;
  /** Until the next one is due; null: there is none. */
  readonly nextInMs: number | null;
  /** What single schedules threw: it was told already. */
  readonly errors: readonly unknown[];
}

/** Schedules that one statement claims: few, since each may start many runs while the lease of the last one runs. */
const MOST_CLAIMED = 20;
/** Whoever dies with a schedule costs it so long. */
const LEASE_MS = 60_000;

type ScheduleSpec = Extract<CompiledTrigger['trigger'], { type: 'schedule' }>;

/**
 * Starts the runs of schedules that are due (TRIG-1): for each instant one, over all processes and whoever dies.
 *
 * A schedule is leased, its runs are started, then it is moved on, fenced by its version. A crash between the two starts them again,
 * which is the same runs: their start key is made of trigger and instant. So is it when a lease is over too soon.
 */
export class Schedules {
  readonly #schedules = new Map<string, Schedule>();
  /** This process goes: what it has it hands back, and takes no more. */
  #closing = false;

  constructor(private readonly parts: SchedulesParts) {}

  /** Each schedule on its own: what one throws keeps none of the others. Rejects with what the store throws at all of them. */
  async runOnce(aheadMs: number): Promise<SchedulesReport> {
    const { store, batch } = this.parts;
    const limit = Math.min(batch, MOST_CLAIMED);
    const seen = new Set<string>();
    const errors: unknown[] = [];
    let started = 0;
    for (;;) {
      if (this.#closing) return { started, nextInMs: null, errors };
      const claimed = await store.claimSchedules(limit, aheadMs, LEASE_MS);
      for (const schedule of claimed) {
        try {
          // Still due after its turn: it has more to catch up with than one pass does.
          if (this.#closing || seen.has(schedule.id)) await store.moveSchedules([handBack(schedule)]);
          else started += await this.#run(schedule);
        } catch (error) {
          // Its lease is how long it is left alone.
          errors.push(error);
          this.#tell(schedule, error);
        }
      }
      const again = claimed.some(({ id }) => seen.has(id));
      for (const { id } of claimed) seen.add(id);
      if (!this.#closing && (claimed.length < limit || again))
        return { started, nextInMs: await store.nextScheduleIn(aheadMs), errors };
    }
  }

  /** Here, for whoever has them run: the timer and the wake pass. */
  #tell(schedule: ClaimedSchedule, error: unknown): void {
    const { store, log } = this.parts;
    const line = `${nameOf(schedule)} could not be run, and is tried again: ${errorLine(error)}`;
    if (store.isTransient(error)) log.warn(line);
    else log.error(line, errorStack(error));
  }

  /** Returns how many runs it started. What was started is noted down, also where the next one fails. */
  async #run(claimed: ClaimedSchedule): Promise<number> {
    const { store, specs, log } = this.parts;
    let trigger: CompiledTrigger;
    let due: DueInstants;
    try {
      trigger = specs.of(claimed.spec);
      const spec = trigger.trigger as ScheduleSpec;
      due = dueInstants(this.#scheduleOf(spec), claimed.cursor, claimed.asOf, spec.catchUp ?? 'once');
    } catch (error) {
      log.error(`${nameOf(claimed)} cannot be read by this version; it is left to others: ${errorLine(error)}`);
      return 0;
    }
    const tally = new ScheduleTally(claimed, due);
    if (due.missed && due.instants.length === 0)
      log.warn(`${nameOf(claimed)} missed instants, which its catchUp lets go.`);
    try {
      for (const instant of due.instants) {
        if (!(await this.#start(claimed, trigger, instant, tally))) break;
      }
    } finally {
      if (tally.moved) await store.moveSchedules([tally.move()]);
      else if (this.#closing) await store.moveSchedules([handBack(claimed)]);
    }
    return tally.started;
  }

  /** False: it has to be tried again, and so have those after it. */
  async #start(
    claimed: ClaimedSchedule,
    compiled: CompiledTrigger,
    instant: number,
    tally: ScheduleTally,
  ): Promise<boolean> {
    const { store, start, log } = this.parts;
    const spec = compiled.trigger as ScheduleSpec;
    const now = new Date(instant);
    const where = `${nameOf(claimed)} at ${now.toISOString()}`;
    if (spec.overlap === 'skip' && tally.isOpen) {
      log.log(`${where} is passed over: the run before is still open.`);
      tally.overlap(instant);
      return true;
    }
    const { id, ownerId, definitionId, definitionVersion, triggerId } = claimed;
    const input = compiled.input && evaluateMapping(compiled.input, new ExpressionValues({ owner: ownerId, now }));
    if (input?.ok === false) {
      log.error(`${where} started no run: its input could not be made: ${input.problem}`);
      tally.failed(instant, `input: ${input.problem}`);
      return true;
    }
    const putOffMs = jitterMs(id, instant, spec.jitter === undefined ? 0 : parseDurationMs(spec.jitter, 'jitter'));
    try {
      tally.ran(
        instant,
        await start({
          trigger: { id, ownerId, definitionId, definitionVersion, triggerId },
          cause: { at: now.toISOString() },
          key: null,
          ownerId,
          actor: null,
          input: input === null ? {} : input.value,
          subject: null,
          startAt: putOffMs === 0 ? null : new Date(instant + putOffMs),
          chain: [],
          depth: 1,
        }),
      );
      return true;
    } catch (error) {
      if (store.isTransient(error)) throw error;
      if (isShuttingDown(error)) {
        this.#closing = true;
        return false;
      }
      if (!WorkflowError.is(error) || error.code === 'UNKNOWN_WORKFLOW') {
        log.error(`${where} started no run here, and is tried again: ${errorLine(error)}`);
        return false;
      }
      log.error(`${where} started no run: ${errorLine(error)}`);
      tally.failed(instant, error.message);
      return true;
    }
  }

  #scheduleOf({ cron, timeZone = 'UTC' }: ScheduleSpec): Schedule {
    const name = `${cron} ${timeZone}`;
    let schedule = this.#schedules.get(name);
    if (schedule === undefined) {
      const text = CronText.read(cron);
      if (typeof text === 'string') throw new Error(text);
      schedule = new Schedule(text, new ZoneClock(timeZone));
      if (this.#schedules.size >= MOST_SCHEDULES) this.#schedules.clear();
      this.#schedules.set(name, schedule);
    }
    return schedule;
  }
}

const MOST_SCHEDULES = 1_000;

const nameOf = ({ definitionId, triggerId, ownerId }: ClaimedSchedule): string =>
  `Schedule ${triggerId} of ${definitionId}${ownerId === null ? '' : ` of owner ${ownerId}`}`;

/** As it was, and free. */
const handBack = ({ id, version, cursor, asOf }: ClaimedSchedule): ScheduleMove => ({
  ...{ id, version, cursor },
  next: asOf,
  ...triggerNote({}),
});
