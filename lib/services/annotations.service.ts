import type { OwnerScope } from '../engine/ports/index.js';
import type { RunHandle } from '../interfaces/index.js';
import type { EngineReady } from './engine-port.js';
import { readAnnotationFilter, type ListAnnotationsOptions } from './runs/annotation-filter.js';
import { toAnnotationView } from './runs/read-stage-views.js';
import { runIdOf } from './runs/run-id.js';
import type { AnnotationView } from './runs/run-views.js';

export interface AnnotationPage {
  readonly annotations: readonly AnnotationView[];
  /** Pass it as `cursor` for the next page; null = this was the last. */
  readonly cursor: string | null;
}

/**
 * Finds the facts that stages noted down about runs with `ctx.annotate`, for the owner of the caller.
 *
 * @publicApi
 */
export class AnnotationsService {
  readonly #ready: EngineReady;
  readonly #scopeOf: (where: string) => Promise<OwnerScope>;

  constructor(ready: EngineReady, scopeOf: (where: string) => Promise<OwnerScope>) {
    this.#ready = ready;
    this.#scopeOf = scopeOf;
  }

  /**
   * Annotations of one run, newest first, a page at a time. None for a run of another owner, as for one that does not exist.
   *
   * @throws InvalidOptionsError, UndefinedIdError
   */
  async list(run: RunHandle | string, options: ListAnnotationsOptions = {}): Promise<AnnotationPage> {
    const where = 'annotations.list';
    const filter = readAnnotationFilter(runIdOf(run, where), options, where);
    const scope = await this.#scopeOf(where);
    const { store } = await this.#ready();
    // One more than the page tells whether another follows, without counting.
    const rows = await store.listAnnotations({ ...filter, limit: filter.limit + 1 }, scope);
    const page = rows.slice(0, filter.limit);
    const last = page.at(-1);
    return {
      annotations: page.map(toAnnotationView),
      cursor: rows.length > filter.limit && last ? last.id : null,
    };
  }

  /** The same over all owners. Say it only where the caller was checked. */
  asOperator(): AnnotationsService {
    return new AnnotationsService(this.#ready, () => Promise.resolve({ all: true }));
  }
}
