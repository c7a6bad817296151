import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a host has beside the package. */
export interface PeerSet {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
  /** Whether the optional peers are there, so that the whole app can run. */
  readonly complete: boolean;
  /** Whether its types can be found by `moduleResolution: node10`, which older Nest apps have. */
  readonly node10: boolean;
}

const REQUIRED = [
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/typeorm',
  'nestjs-cls',
  'reflect-metadata',
  'rxjs',
  'typeorm',
  'zod',
];
const OPTIONAL = ['@nestjs/event-emitter', '@nestjs/schedule', '@nestjs/testing', 'pg'];

/** The other end of the peer ranges. Nest 11 pairs with TypeORM 0.3. */
const NEST_11 = {
  '@nestjs/common': '11.2.10',
  '@nestjs/core': '11.2.10',
  '@nestjs/event-emitter': '3.1.0',
  '@nestjs/schedule': '6.1.3',
  '@nestjs/testing': '11.2.6',
  '@nestjs/typeorm': '11.0.3',
  'nestjs-cls': '6.3.1',
  typeorm: '0.3.31',
};

/** @param root folder of this repository, whose installed versions are the newer end */
export function peerSets(root: string): readonly PeerSet[] {
  const ours = (names: readonly string[]): Record<string, string> => {
    return Object.fromEntries(names.map((name) => [name, installedVersion(root, name)]));
  };
  // Every TypeScript app for Node has these types.
  const all = ours([...REQUIRED, ...OPTIONAL, '@types/node']);
  return [
    { name: 'Nest 12', dependencies: all, complete: true, node10: false },
    { name: 'Nest 11', dependencies: { ...all, ...NEST_11 }, complete: true, node10: true },
    { name: 'required peers only', dependencies: ours([...REQUIRED, '@types/node']), complete: false, node10: false },
  ];
}

function installedVersion(root: string, name: string): string {
  const manifest = readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
