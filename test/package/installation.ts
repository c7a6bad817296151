import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './command.js';
import type { PeerSet } from './peer-sets.js';
import type { Tarball } from './tarball.js';

const PACKAGE = 'nestjs-workflow-engine';

/**
 * A host's folder with a peer set and the package from the tarball; the test removes it.
 *
 * What npm installs is kept between runs, below the temporary folder, for as long as neither the set nor the package's
 * own dependencies change. It can't lie in the repository: Node would find there whatever the set lacks.
 */
export async function installHost(set: PeerSet, tarball: Tarball): Promise<string> {
  const kept = await installPeers(set, tarball);
  const host = await mkdtemp(join(await homeFolder(), 'host-'));
  const modules = join(host, 'node_modules');
  await mkdir(join(modules, PACKAGE), { recursive: true });
  for (const name of await readdir(join(kept, 'node_modules'))) {
    if (name !== PACKAGE && !name.startsWith('.'))
      await symlink(join(kept, 'node_modules', name), join(modules, name), 'junction');
  }
  // The package itself is no link: from here it finds its peers as it would in any host.
  await run('tar', ['-xzf', tarball.path, '-C', join(modules, PACKAGE), '--strip-components=1'], { cwd: host });
  return host;
}

async function installPeers(set: PeerSet, tarball: Tarball): Promise<string> {
  const home = await homeFolder();
  const slug = set.name.toLowerCase().replaceAll(/\W+/g, '-');
  const folder = join(home, `${slug}-${await keyOf(set, tarball)}`);
  if (existsSync(folder)) return folder;
  const draft = join(home, `draft-${randomBytes(6).toString('hex')}`);
  try {
    await mkdir(draft);
    const dependencies = { ...set.dependencies, [PACKAGE]: `file:${tarball.path}` };
    await writeFile(join(draft, 'package.json'), JSON.stringify({ name: 'host', private: true, dependencies }));
    // Strict: a peer range that doesn't hold the set is an error, not a warning.
    const flags = ['--prefer-offline', '--strict-peer-deps', '--no-audit', '--no-fund', '--no-package-lock'];
    await run('npm', ['install', ...flags, '--prefix', draft], { cwd: draft });
    const outdated = (await readdir(home)).filter((name) => name.startsWith(`${slug}-`));
    await Promise.all(outdated.map((name) => rm(join(home, name), { recursive: true, force: true })));
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another run may have put the same in place first.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

async function keyOf(set: PeerSet, tarball: Tarball): Promise<string> {
  const manifest = JSON.parse(await readFile(join(tarball.folder, 'package.json'), 'utf8')) as Record<string, unknown>;
  const ours = [manifest.dependencies, manifest.peerDependencies, manifest.peerDependenciesMeta];
  const what = [set.dependencies, ours, process.platform, process.arch, process.version];
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 12);
}

/** Of this user alone: what lies in it is run. */
async function homeFolder(): Promise<string> {
  const user = process.getuid?.() ?? 'me';
  const folder = join(tmpdir(), `${PACKAGE}-package-test-${user}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid } = await stat(folder);
  if (process.getuid !== undefined && uid !== user) throw new Error(`${folder} belongs to somebody else.`);
  return folder;
}
