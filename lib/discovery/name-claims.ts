import { foldIdentifier } from '../engine/definition/index.js';

/** A class that goes by an id: of a stage (`version` 0), or of one version of a workflow. */
export interface Claim {
  readonly id: string;
  readonly version: number;
  readonly type: Function;
  readonly place: string;
}

/** Who goes by which id. Classes that are faulty otherwise claim theirs too, so that all is told at once. */
export class NameClaims {
  private readonly claims: Claim[] = [];

  /** Undefined, or how the claim collides with an earlier one: the same id, or one that nobody tells from it (FAULT H6, E12). */
  add(claim: Claim): string | undefined {
    const rival = this.claims.find(({ id, version, type }) => {
      if (type === claim.type) return false;
      return id === claim.id ? version === claim.version : foldIdentifier(id) === foldIdentifier(claim.id);
    });
    this.claims.push(claim);
    if (!rival) return undefined;
    return rival.id === claim.id ? rival.place : `${rival.place} ("${rival.id}" differs only in case)`;
  }
}
