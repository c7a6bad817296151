import { type Observable, Subject } from 'rxjs';
import type { WorkflowEvent } from '../../interfaces/index.js';

/** Events as an rxjs stream: those that this process relays, from the moment of subscribing. */
export class EventStream {
  readonly #subject = new Subject<WorkflowEvent>();

  get observed(): boolean {
    return this.#subject.observed;
  }

  events(): Observable<WorkflowEvent> {
    return this.#subject.asObservable();
  }

  next(event: WorkflowEvent): void {
    this.#subject.next(event);
  }

  /** Completes every subscriber: the process stops. */
  complete(): void {
    this.#subject.complete();
  }
}
