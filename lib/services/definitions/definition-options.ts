import { isIdentifier } from '../../engine/definition/identifier.js';
import { InvalidOptionsError, type OptionProblem, UndefinedIdError } from '../../errors/index.js';
import { reasonOf } from '../operations/reason-of.js';

/** Which of a graph: a version, its draft, or the highest version that is published. */
export interface DefinitionRef {
  readonly id: string;
  /** @default the highest that is published */
  readonly version?: number;
  /** The draft is meant. Not together with `version`. @default false */
  readonly draft?: boolean;
  /** Only `asOperator()`: whose it is. @default null: what all owners share */
  readonly owner?: string | null;
}

export interface SaveDraftOptions {
  /** `revision` of the draft that the caller has read; null: he found none. @default whatever is there is written over */
  readonly expected?: string | null;
  /** For people. Cut after 1,000 characters. */
  readonly note?: string;
  /** Only `asOperator()`: whose it becomes. @default null: all owners share it */
  readonly owner?: string | null;
}

export interface PublishOptions extends Omit<SaveDraftOptions, 'expected'> {
  /** With `{ draft }`: the `revision` that the caller has read. @default the draft as it is now */
  readonly expected?: string;
}

export interface RetireOptions {
  /** @default all versions */
  readonly version?: number;
  /** Why: kept in the audit. Cut after 1,000 characters. */
  readonly reason?: string;
  /** Only `asOperator()`: whose it is. @default null: what all owners share */
  readonly owner?: string | null;
}

/** Checks the options of a call, and says all that is wrong at once. */
export class DefinitionOptions {
  readonly #problems: OptionProblem[] = [];

  /** @param known names of the options there are; `owner` is an operator's alone */
  constructor(
    private readonly options: object,
    known: readonly string[],
    operator: boolean,
    private readonly where: string,
  ) {
    if (typeof options !== 'object' || options === null) {
      throw new InvalidOptionsError({ where, problems: [{ path: 'options', message: 'must be an object' }] });
    }
    const names = operator ? [...known, 'owner'] : known;
    for (const name of Object.keys(options)) {
      if (name === 'owner' && !operator)
        this.#need(false, name, 'is for asOperator() to name; here it is the caller’s');
      else this.#need(names.includes(name), name, `is not an option; there are ${names.join(', ') || 'none'}`);
    }
    // One that is named and undefined would be read as "shared by all", or "write over whatever is there" (fault A18).
    for (const name of ['owner', 'expected', 'version'] as const) {
      const named = name in options && (options as Record<string, unknown>)[name] === undefined;
      if (named && names.includes(name)) throw new UndefinedIdError({ what: name, where });
    }
  }

  text(name: string): void {
    const value = (this.options as Record<string, unknown>)[name] ?? null;
    this.#need(
      value === null || (typeof value === 'string' && value !== ''),
      name,
      'must be a revision, as get() shows it',
    );
  }

  version(): void {
    const { version } = this.options as { version?: unknown };
    const isVersion =
      version === undefined || (Number.isInteger(version) && Number(version) >= 1 && Number(version) < 2 ** 31);
    this.#need(isVersion, 'version', 'must be an integer from 1 on');
  }

  draft(): void {
    const { draft, version } = this.options as { draft?: unknown; version?: unknown };
    this.#need(draft === undefined || typeof draft === 'boolean', 'draft', 'must be true or false');
    this.#need(draft !== true || version === undefined, 'draft', 'stands beside version; give one of them');
  }

  /** @throws InvalidOptionsError with everything that did not hold */
  done(): void {
    if (this.#problems.length > 0) throw new InvalidOptionsError({ where: this.where, problems: this.#problems });
  }

  #need(holds: boolean, path: string, message: string): void {
    if (!holds) this.#problems.push({ path, message });
  }
}

/** @throws UndefinedIdError, InvalidOptionsError */
export function definitionIdOf(id: unknown, where: string): string {
  if (id === undefined || id === null || id === '') throw new UndefinedIdError({ what: 'definition', where });
  if (isIdentifier(id)) return id;
  const problems = [{ path: 'id', message: 'must be the id of a definition' }];
  throw new InvalidOptionsError({ where, problems });
}

/** The note, or the reason, of a call. @throws InvalidOptionsError for one that is no text */
export const noteOf = (note: unknown, where: string): string | null => reasonOf(note, where);
