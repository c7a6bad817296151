import { InvalidOptionsError, type OptionProblem, UndefinedIdError } from '../../errors/index.js';
import { isUuid } from './run-id.js';

const PAGE_SIZE = 50;
const LARGEST_PAGE = 500;

export interface ListNames {
  /** What narrows the list: named and undefined it is refused, since dropping it would list more than was meant (fault A18). */
  readonly filters: readonly string[];
  /** What the option is called that goes on behind a page. */
  readonly cursor: 'cursor' | 'after';
}

/** One page of a list. */
export interface Page {
  readonly limit: number;
  readonly before: string | undefined;
}

/** Checks the options of a list, and says all that is wrong at once. */
export class ListCheck {
  readonly #problems: OptionProblem[] = [];

  /** @throws UndefinedIdError for a filter that is named and undefined */
  constructor(
    private readonly options: object,
    private readonly names: ListNames,
    private readonly where: string,
  ) {
    const known = [...names.filters, 'limit', names.cursor];
    for (const name of Object.keys(options))
      this.need(known.includes(name), name, `is not an option; there are ${known.join(', ')}`);
    for (const name of names.filters) {
      if (name in options && (options as Record<string, unknown>)[name] === undefined)
        throw new UndefinedIdError({ what: name, where, hint: 'leave it out to list all' });
    }
  }

  need(holds: boolean, path: string, message: string): void {
    if (!holds) this.#problems.push({ path, message });
  }

  /**
   * The last question: which page.
   *
   * @throws InvalidOptionsError with everything that did not hold
   */
  page(): Page {
    const { cursor: name } = this.names;
    const { limit = PAGE_SIZE, [name]: given } = this.options as { limit?: number; cursor?: unknown; after?: unknown };
    const cursor = given ?? undefined;
    const isPage = Number.isInteger(limit) && limit >= 1 && limit <= LARGEST_PAGE;
    this.need(isPage, 'limit', `must be an integer from 1 to ${LARGEST_PAGE}`);
    const isCursor = cursor === undefined || (typeof cursor === 'string' && isUuid(cursor));
    this.need(isCursor, name, `must be ${name === 'after' ? '`after`' : 'the cursor'} of the page before`);
    if (this.#problems.length > 0) throw new InvalidOptionsError({ where: this.where, problems: this.#problems });
    return { limit, before: cursor as string | undefined };
  }
}
