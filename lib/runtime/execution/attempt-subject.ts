import type { ClaimedRun } from '../../engine/ports/index.js';
import { InvalidOptionsError, OwnerMismatchError, SubjectMissingError } from '../../errors/index.js';
import type { SubjectSource } from './subject-source.js';

/**
 * What one attempt's run is about, loaded once and when it is first asked for, inside the owner's context.
 *
 * Before a body that is before everything else (TX-1), so that a body never sees a subject that is not its owner's, and none is
 * called for one that is gone.
 */
export class AttemptSubject {
  #loading: Promise<object> | undefined;

  constructor(
    private readonly run: ClaimedRun,
    private readonly source: SubjectSource,
  ) {}

  /**
   * The subject as it was loaded before the body; undefined where there is nothing to load.
   *
   * @throws SubjectMissingError, OwnerMismatchError: never retried; what the host's resolver throws
   */
  check(): Promise<object> | undefined {
    return this.run.subject === null ? undefined : this.#load();
  }

  /** For the body. @throws as `check`; InvalidOptionsError where there is none, or nobody loads it */
  async get(): Promise<object> {
    const { id, subject } = this.run;
    if (subject === null) throw refused(`run ${id} is about nothing: start it with { subject: { type, id } }`);
    const loading = this.#load();
    if (loading) return loading;
    const cure = `mark its entity @WorkflowSubject({ type: '${subject.type}', … }), or name who loads it in subjects.resolvers`;
    throw refused(`nobody loads subjects of type "${subject.type}": ${cure}`);
  }

  #load(): Promise<object> | undefined {
    if (this.#loading) return this.#loading;
    const { subject, ownerId } = this.run;
    const answer = this.source.load(subject!, ownerId);
    if (answer) this.#loading = answer.then((loaded) => this.#judge(loaded));
    // Whoever awaits it hears of it; a body may also ask and never look.
    this.#loading?.catch(() => undefined);
    return this.#loading;
  }

  /** Another owner's reads as missing, unless it was this owner's at the start: then he knows of it already. */
  #judge(loaded: Awaited<NonNullable<ReturnType<SubjectSource['load']>>>): object {
    if (loaded.kind === 'found') return loaded.subject;
    const { subject, subjectSeen } = this.run;
    const name = `${subject!.type} ${subject!.id}`;
    if (loaded.kind === 'anothers' && subjectSeen) throw new OwnerMismatchError({ what: `The subject ${name}` });
    throw new SubjectMissingError({ subject: name });
  }
}

const refused = (message: string): InvalidOptionsError =>
  new InvalidOptionsError({ where: 'ctx.subject()', problems: [{ path: 'subject', message }] });
