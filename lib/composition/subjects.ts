import type { EntityManager } from 'typeorm';
import type { FoundProvider } from '../discovery/index.js';
import { MetadataAccessor } from '../discovery/metadata-accessor.js';
import type { SubjectName } from '../engine/ports/index.js';
import { DataSourceNotFoundError, FieldNotWritableError, InvalidOptionsError } from '../errors/index.js';
import type {
  LifecycleAdapter,
  SetFieldRequest,
  SubjectChange,
  SubjectLoadContext,
  SubjectResolver,
  TransactionManager,
  TransitionAnswer,
  TransitionRequest,
} from '../interfaces/index.js';
import type { EntitySubject } from '../persistence/subjects/entity-subject.js';
import { moveEntity, setEntityField } from '../persistence/subjects/entity-writes.js';
import { EntitySubjects } from '../persistence/subjects/entity-subjects.js';
import { errorLine } from '../runtime/background/runtime-log.js';
import type { LoadedSubject, SubjectSource } from '../runtime/execution/subject-source.js';
import type { SubjectWriter } from '../runtime/nodes/index.js';
import type { SubjectSight } from '../services/start/subject-sight.js';
import type { AmbientTransactions } from '../services/transaction/ambient-transactions.js';
import type { StorageRequest } from './engine-storage.js';
import { AutoTouch, type AutoTouchParts } from './auto-touch.js';
import type { EntityEventsParts } from './entity-events.js';
import { findDataSource } from './find-data-source.js';
import { findProvider } from './find-provider.js';
import type { RuntimeParts } from './runtime-parts.js';

export interface SubjectParts {
  readonly parts: Pick<RuntimeParts, 'modules' | 'moduleRef' | 'options' | 'resolver' | 'log'>;
  readonly ambient: AmbientTransactions;
}

/** Who loads what runs are about: the host's resolvers, or its marked entities; each type has one of them (OWNER-3). */
export class Subjects implements SubjectSource, SubjectSight, SubjectWriter {
  readonly #providers = new Map<string, FoundProvider>();
  readonly #lifecycles = new Map<string, FoundProvider>();
  #entities: EntitySubjects | undefined;
  #autoTouch: AutoTouch | undefined;
  #unwatch: (() => void) | undefined;

  constructor(private readonly given: SubjectParts) {}

  /** Finds the resolvers. Once the providers are there. @throws InvalidOptionsError for a class that is no resolver of this app */
  prepare(): void {
    const { modules, options } = this.given.parts;
    for (const [type, resolver] of Object.entries(options.subjects.resolvers)) {
      if (typeof resolver !== 'function') continue;
      const wanted = { type: resolver, method: 'load(subject, context)', path: `subjects.resolvers.${type}` };
      this.#providers.set(type, findProvider(wanted, modules));
    }
    for (const [type, lifecycle] of Object.entries(options.subjects.lifecycles)) {
      if (typeof lifecycle !== 'function') continue;
      const path = `subjects.lifecycles.${type}`;
      const wanted = { type: lifecycle, method: 'transition(request, manager)', path };
      this.#lifecycles.set(type, findProvider(wanted, modules));
    }
  }

  /** Finds the entities. Once the DataSource is there. @throws InvalidOptionsError for wrong marks, and for types that two load */
  open(): void {
    const { resolvers } = this.given.parts.options.subjects;
    this.#entities = entitiesOf(this.given.parts);
    const marked = this.#entities?.byType;
    const problems = Object.keys(resolvers).flatMap((type) => {
      const entity = marked?.get(type);
      if (!entity) return [];
      const message = `stands beside @WorkflowSubject of ${entity.metadata.name}, which claims the same type: give one of the two`;
      return [{ path: `subjects.resolvers.${type}`, message }];
    });
    if (problems.length > 0) throw new InvalidOptionsError({ problems });
  }

  load(subject: SubjectName, ownerId: string | null): Promise<LoadedSubject> | undefined {
    const entity = this.#entityOf(subject.type);
    const context = { ownerId };
    if (entity) return this.#loadEntity(entity, subject, { ...context, manager: this.given.ambient.current() });
    return Object.hasOwn(this.given.parts.options.subjects.resolvers, subject.type)
      ? this.#askResolver(subject, context)
      : undefined;
  }

  async sees(subject: SubjectName, ownerId: string | null, given?: TransactionManager): Promise<boolean> {
    const { ambient, parts } = this.given;
    const manager = given ?? ambient.current();
    const context = { ownerId, ...(manager && { manager }) };
    const entity = this.#entityOf(subject.type);
    try {
      if (entity) return (await this.#loadEntity(entity, subject, context)).kind === 'found';
      const { resolvers } = parts.options.subjects;
      if (!Object.hasOwn(resolvers, subject.type)) return false;
      return (await this.#askResolver(subject, context)).kind === 'found';
    } catch (error) {
      if (entity && manager) throw error;
      parts.log.debug(`Subject ${subject.type} ${subject.id} could not be looked at: ${errorLine(error)}`);
      return false;
    }
  }

  readable({ type }: SubjectName, subject: object): unknown {
    return this.#entityOf(type)?.read(subject) ?? subject;
  }

  async transition(request: TransitionRequest, manager: unknown): Promise<TransitionAnswer> {
    const entity = this.#entityOf(request.subject.type);
    const own = await this.#lifecycleOf(request);
    if (own) return own.transition(request, manager as TransactionManager);
    if (entity) return moveEntity(entity, request, manager as EntityManager);
    const { type } = request.subject;
    const message = `nobody moves subjects of type "${type}": give its entity lifecycles, or name who does in subjects.lifecycles`;
    throw new InvalidOptionsError({
      where: 'A transition',
      problems: [{ path: `subjects.lifecycles.${type}`, message }],
    });
  }

  async setField(request: SetFieldRequest, manager: unknown): Promise<void> {
    const { subject, field } = request;
    const entity = this.#entityOf(subject.type);
    const own = await this.#lifecycleOf(request);
    if (own?.setField) await own.setField(request, manager as TransactionManager);
    else if (entity) await setEntityField(entity, request, manager as EntityManager);
    else
      throw new FieldNotWritableError({ field, subject: subject.type, reason: 'nobody writes subjects of this type' });
  }

  /** The host's own for a type; it goes before what an entity says. */
  async #lifecycleOf({ subject, ownerId }: SubjectChange): Promise<LifecycleAdapter | undefined> {
    const { options, resolver: handlers } = this.given.parts;
    const provider = this.#lifecycles.get(subject.type);
    if (provider) return handlers.resolve<LifecycleAdapter>(provider, () => ({ subject, ownerId }));
    const { lifecycles } = options.subjects;
    return Object.hasOwn(lifecycles, subject.type) ? (lifecycles[subject.type] as LifecycleAdapter) : undefined;
  }

  /** Begins to touch marked entities that the host writes, unless the options say otherwise. */
  watch(touch: AutoTouchParts['touch']): void {
    const { log, options } = this.given.parts;
    if (!options.subjects.autoTouch || this.#autoTouch) return;
    const autoTouch = new AutoTouch({ touch, ownerOf: (subject) => this.#ownerOf(subject), log });
    const onError = (error: unknown): void => log.warn(`A change of a subject was not seen: ${errorLine(error)}`);
    this.#unwatch = this.#entities?.watch(autoTouch.changed, onError);
    if (this.#unwatch) this.#autoTouch = autoTouch;
  }

  /** Resolves once what was written so far has been touched. */
  async touched(): Promise<void> {
    await this.#autoTouch?.idle();
  }

  /** Ends that, before the store is closed. */
  async unwatch(): Promise<void> {
    this.#unwatch?.();
    await this.#autoTouch?.stop();
  }

  /** Of a change of a marked entity: its type, and whose it is, where what was written says so. */
  readonly subjectOf: EntityEventsParts['subjectOf'] = ({ metadata, written }) => {
    const tree: readonly unknown[] = [metadata.target, ...metadata.inheritanceTree];
    const entity = [...(this.#entities?.byType.values() ?? [])].find((each) => tree.includes(each.metadata.target));
    return entity && { type: entity.type, ownerId: entity.namesOwner(written) ? entity.ownerOf(written) : undefined };
  };

  async #ownerOf({ type, id }: SubjectName): Promise<string | null | undefined> {
    const entity = this.#entityOf(type);
    const found = entity && (await this.#entities!.load(entity, id, null));
    return found ? entity.ownerOf(found) : undefined;
  }

  #entityOf(type: string): EntitySubject | undefined {
    return this.#entities?.byType.get(type);
  }

  async #loadEntity(
    entity: EntitySubject,
    { id }: SubjectName,
    { ownerId, manager }: SubjectLoadContext,
  ): Promise<LoadedSubject> {
    return judged(await this.#entities!.load(entity, id, ownerId, manager), ownerId, (found) => entity.ownerOf(found));
  }

  async #askResolver(subject: SubjectName, context: SubjectLoadContext): Promise<LoadedSubject> {
    const { options, resolver: handlers } = this.given.parts;
    const provider = this.#providers.get(subject.type);
    const request = (): object => ({ subject, ownerId: context.ownerId });
    const resolver = provider
      ? await handlers.resolve<SubjectResolver>(provider, request)
      : (options.subjects.resolvers[subject.type] as SubjectResolver);
    const found: unknown = await resolver.load({ type: subject.type, id: subject.id }, context);
    if (found !== null && found !== undefined && typeof found !== 'object') {
      throw new TypeError(
        `The resolver of subjects of type "${subject.type}" must return an object or null; it returned a ${typeof found}.`,
      );
    }
    return judged(found ?? null, context.ownerId, (one) =>
      resolver.ownerOf ? resolver.ownerOf(one) : context.ownerId,
    );
  }
}

/** Of the DataSource that the options name, also where a test keeps the engine's tables elsewhere. None where there is none. */
function entitiesOf(request: StorageRequest): EntitySubjects | undefined {
  try {
    const guarded = request.options.owners.rowLevelSecurity !== null;
    return new EntitySubjects(findDataSource(request), (entity) => MetadataAccessor.subject(entity), guarded);
  } catch (error) {
    if (error instanceof DataSourceNotFoundError) return undefined;
    throw error;
  }
}

function judged(
  found: object | null,
  ownerId: string | null,
  ownerOf: (found: object) => string | null,
): LoadedSubject {
  if (found === null) return { kind: 'missing' };
  return ownerOf(found) === ownerId ? { kind: 'found', subject: found } : { kind: 'anothers' };
}
