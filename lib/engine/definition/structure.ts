import { digest } from '../codec/digest.js';

const FINGERPRINT_LENGTH = 16;

/** What of a pipeline counts: changing it under unfinished runs would change what follows for them (DEF-4). */
export interface NodeStructure {
  readonly key: string;
  readonly parallel: boolean;
  readonly stages: readonly StageStructure[];
}

export interface StageStructure {
  readonly key: string;
  readonly stage: string;
  /** Canonical JSON. */
  readonly config: string;
  /** Whether there is one: its source text differs between builds that mean the same. */
  readonly when: boolean;
}

/** Canonical JSON of a structure; the same for every build that means the same. */
export function structureText(nodes: readonly NodeStructure[]): string {
  const parts = nodes.map(({ key, parallel, stages }) => {
    const branches = stages.map(({ key: stageKey, stage, config, when }) => {
      return `{"config":${config},"key":${JSON.stringify(stageKey)},"stage":${JSON.stringify(stage)},"when":${when}}`;
    });
    return `{"key":${JSON.stringify(key)},"parallel":${parallel},"stages":[${branches.join(',')}]}`;
  });
  return `{"nodes":[${parts.join(',')}]}`;
}

/** 16 hex digits of SHA-256. */
export function fingerprintOf(structure: string): string {
  return digest([structure]).toString('hex').slice(0, FINGERPRINT_LENGTH);
}
