/**
 * Whose rows a call may see (OWNER-5): one owner (null = ownerless rows only), or all, which only `asOperator()` says.
 * There is no third value: an undefined owner is refused before it gets here.
 */
export type OwnerScope = { readonly owner: string | null } | { readonly all: true };
