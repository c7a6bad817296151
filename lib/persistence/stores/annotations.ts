import type { AnnotationFilter, AnnotationRow, AnnotationStore, OwnerScope } from '../../engine/ports/index.js';
import { scopeKind, scopeValue } from '../dialects/postgres/statements/read-statements.js';
import type { StoreContext } from './store-context.js';

/** What bodies noted down. */
export class PostgresAnnotations implements AnnotationStore {
  constructor(private readonly context: StoreContext) {}

  async listAnnotations(filter: AnnotationFilter, scope: OwnerScope): Promise<AnnotationRow[]> {
    const { sessions, statements } = this.context;
    const values = [
      scopeValue(scope),
      filter.runId,
      filter.keyPrefix,
      filter.scope,
      filter.actor,
      filter.attempt,
      filter.since,
      filter.until,
      filter.before,
      filter.limit,
    ];
    return sessions.run(scope, (query) => query<AnnotationRow>(statements.listAnnotations[scopeKind(scope)], values));
  }
}
