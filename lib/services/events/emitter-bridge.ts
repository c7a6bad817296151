import type { WorkflowEvent, WorkflowEventType } from '../../interfaces/index.js';

/** The EventEmitter2 of @nestjs/event-emitter, told by its shape: the package is an optional peer. */
export interface EventEmitterLike {
  emitAsync(name: string, ...values: unknown[]): Promise<unknown>;
  hasListeners?(name?: string): boolean;
}

/** Listeners hear `@OnEvent('workflow.run:completed')`, or all by `'workflow.*'` where wildcards are on. */
const PREFIX = 'workflow.';

/** Passes events on to the host's EventEmitter2, waiting for its listeners. What a listener throws is for the outbox to retry. */
export class EmitterBridge {
  readonly #find: () => EventEmitterLike | undefined;

  constructor(find: () => EventEmitterLike | undefined) {
    this.#find = find;
  }

  /** Whether anything listens to the host's emitter at all, to whatever event. */
  get hasListeners(): boolean {
    const emitter = this.#find();
    return emitter !== undefined && (emitter.hasListeners?.() ?? true);
  }

  async emit(event: WorkflowEvent<WorkflowEventType>): Promise<void> {
    await this.#find()?.emitAsync(`${PREFIX}${event.type}`, event);
  }
}
