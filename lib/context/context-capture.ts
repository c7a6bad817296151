import { isPlainText, MAX_KEY_LENGTH } from '../engine/codec/index.js';
import { InvalidOptionsError, OwnerRequiredError, UndefinedIdError } from '../errors/index.js';
import type { ClsScope } from './cls-scope.service.js';
import type { Caller, CapturedContext, CurrentRun } from './context-values.js';

export interface ContextCaptureOptions {
  /** Who owns what is started here, out of the caller's CLS. @default nobody */
  readonly resolveOwner?: (cls: ClsScope['cls']) => unknown;
  /** Whether nothing may be nobody's, as under row-level security (OWNER-5). @default false */
  readonly requiresOwner?: boolean;
}

/** What the caller said himself; a key that is there counts, so that `owner: undefined` is a mistake and not a default. */
export interface GivenContext {
  readonly owner?: string | null;
  readonly actor?: unknown;
}

/**
 * Reads from the caller's CLS whose a run becomes and on whose behalf it acts (OWNER-1).
 *
 * Order: what the call says, what the run being executed says, what `owners.resolve` says. An owner that comes out
 * undefined is refused, never read as "nobody" (OWNER-5).
 */
export class ContextCapture {
  readonly #scope: ClsScope;
  readonly #resolveOwner: ((cls: ClsScope['cls']) => unknown) | undefined;
  readonly #requiresOwner: boolean;

  constructor(scope: ClsScope, options: ContextCaptureOptions = {}) {
    this.#scope = scope;
    this.#resolveOwner = options.resolveOwner;
    this.#requiresOwner = options.requiresOwner ?? false;
  }

  /**
   * @throws UndefinedIdError when no owner comes out, InvalidOptionsError when it is neither text nor null, OwnerRequiredError when it
   * is null where one is required
   */
  async capture(given: GivenContext, where: string): Promise<CapturedContext> {
    return {
      ownerId: await this.owner(given, where),
      actor: given.actor !== undefined ? given.actor : this.#actor(),
      trace: (this.#scope.read('trace') as string | null | undefined) ?? null,
    };
  }

  /** Who causes what is told here, and in which run: what events say of where they come from. */
  cause(): { readonly runId: string | null; readonly actor: unknown } {
    return { runId: this.caller().runId, actor: this.#actor() };
  }

  /** Inside a run its starter, not the system actor that the body acts as: that one may not even be JSON. */
  #actor(): unknown {
    return this.#scope.read(this.#scope.has('run') ? 'startedBy' : 'actor') ?? null;
  }

  /** Who calls now: whom the code acts for, in a run too, and where it is. */
  caller(): Caller {
    return {
      actor: this.#scope.read('actor') ?? null,
      runId: (this.#scope.read('run') as CurrentRun | undefined)?.id ?? null,
      request: (this.#scope.read('request') as string | undefined) ?? null,
    };
  }

  /** What is called in this context from now on comes from this route. Nothing where no context is open. */
  enterRequest(route: string): void {
    if (this.#scope.active) this.#scope.write('request', route);
  }

  /** The owner within whom a call reads and writes. @throws as `capture` */
  async owner(given: GivenContext, where: string): Promise<string | null> {
    const owner = await this.#ownerOf(given, where);
    if (owner === null && this.#requiresOwner) throw new OwnerRequiredError({ what: where });
    return owner;
  }

  async #ownerOf(given: GivenContext, where: string): Promise<string | null> {
    if ('owner' in given) return checkOwner(given.owner, where, 'null means nobody on purpose');
    if (this.#scope.has('ownerId')) return this.#scope.read('ownerId') as string | null;
    if (!this.#resolveOwner) return null;
    const hint =
      'owners.resolve gave undefined: set what it reads before this call, return null for nobody, or ask asOperator()';
    return checkOwner(await this.#resolveOwner(this.#scope.cls), where, hint);
  }
}

/** What no index takes, or no column. */
const TEXT = `a blank one, one of more than ${MAX_KEY_LENGTH} characters, or has U+0000 or half a character in it`;

function checkOwner(owner: unknown, where: string, hint: string): string | null {
  if (owner === undefined) throw new UndefinedIdError({ what: 'owner', where, hint });
  if (owner === null || isPlainText(owner, MAX_KEY_LENGTH)) return owner;
  // A number would be stored as text and then never match a number again.
  const shown = owner === '' ? 'an empty text' : typeof owner === 'string' ? TEXT : `of type ${typeof owner}`;
  throw new InvalidOptionsError({
    where,
    problems: [{ path: 'owner', message: `must be a text or null, and is ${shown}` }],
  });
}
