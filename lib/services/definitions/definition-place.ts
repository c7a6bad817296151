import type { ContextCapture } from '../../context/index.js';
import { isPlainText, MAX_KEY_LENGTH } from '../../engine/codec/index.js';
import type { OwnerScope } from '../../engine/ports/index.js';
import { InvalidOptionsError, SharedGraphError } from '../../errors/index.js';

/** Whose graphs a call is about. */
export interface DefinitionPlace {
  /** @throws UndefinedIdError, OwnerRequiredError; InvalidOptionsError for an owner that is no text */
  ownerOf(options: OwnedOptions, where: string): Promise<string | null>;
  /** The same of a call that writes. @throws SharedGraphError where the caller may not change what all owners share */
  writerOf(options: OwnedOptions, where: string): Promise<string | null>;
  /** What lists hold. */
  scopeOf(where: string): Promise<OwnerScope>;
  /** As the audit says who asked. */
  readonly operator: boolean;
}

export interface OwnedOptions {
  readonly owner?: string | null;
}

/**
 * The owner of the caller.
 *
 * @param hasOwners rows of this app have owners: who is nobody there is no operator
 */
export function ownPlace(capture: Pick<ContextCapture, 'owner'>, hasOwners: boolean): DefinitionPlace {
  const ownerOf = (_options: OwnedOptions, where: string): Promise<string | null> => capture.owner({}, where);
  return {
    operator: false,
    ownerOf,
    writerOf: async (options, where) => {
      const owner = await ownerOf(options, where);
      if (owner === null && hasOwners) throw new SharedGraphError({ what: where });
      return owner;
    },
    scopeOf: async (where) => ({ owner: await ownerOf({}, where) }),
  };
}

/** What all owners share, or the owner that is named. */
export const OPERATOR_PLACE: DefinitionPlace = {
  operator: true,
  ownerOf: namedOwner,
  writerOf: namedOwner,
  scopeOf: () => Promise.resolve({ all: true }),
};

async function namedOwner({ owner = null }: OwnedOptions, where: string): Promise<string | null> {
  if (owner === null || isPlainText(owner, MAX_KEY_LENGTH)) return owner;
  throw new InvalidOptionsError({
    where,
    problems: [{ path: 'owner', message: `must be a text of 1 to ${MAX_KEY_LENGTH} characters, or null` }],
  });
}
