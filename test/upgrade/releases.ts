import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A release as users install it, in a folder of its own. */
export interface Release {
  readonly version: string;
  readonly commit: string;
  /** The program to start. */
  readonly mainFile: string;
  /** Of the installed package. */
  readonly folder: string;
}

/** @throws Error with what the command printed, if it fails. */
function run(cwd: string, command: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 1e9 });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}${stdout}`, { cause: error });
  return stdout.trim();
}

/** The first commit that made the package: there is no older release. */
export function firstPackedCommit(): string {
  const commits = run(root, 'git', 'log', '--diff-filter=A', '--format=%H', '--', 'scripts/pack-files.js');
  return commits.split('\n').at(-1) ?? '';
}

/**
 * Packs a commit with `npm pack` and installs the tarball.
 *
 * @param place folder to work in
 * @param newVersion another version number for the release, for commits between which the number did not change
 */
export function installRelease(place: string, commit: string, newVersion?: (version: string) => string): Release {
  const sources = mkdtempSync(join(place, 'sources-'));
  run(root, 'git', 'worktree', 'add', '--force', '--detach', sources, commit);
  try {
    const manifestFile = join(sources, 'package.json');
    const manifest = JSON.parse(readFileSync(manifestFile, 'utf8')) as { version: string };
    if (newVersion !== undefined) {
      manifest.version = newVersion(manifest.version);
      writeFileSync(manifestFile, `${JSON.stringify(manifest, undefined, 2)}\n`);
    }
    provideModules(sources);
    const printed = run(sources, 'npm', 'pack', '--silent', '--pack-destination', place);
    const tarball = join(place, `${manifest.version}.tgz`);
    cpSync(join(place, printed.split('\n').at(-1) ?? ''), tarball);
    const home = join(place, `installed-${manifest.version}`);
    mkdirSync(home);
    writeFileSync(join(home, 'package.json'), '{"private":true}\n');
    run(home, 'npm', 'install', '--omit=optional', '--no-audit', '--no-fund', '--ignore-scripts', tarball);
    const folder = join(home, 'node_modules', 'plinth');
    return {
      version: manifest.version,
      commit: run(root, 'git', 'rev-parse', '--short', commit),
      mainFile: join(folder, 'bin', 'plinth.js'),
      folder,
    };
  } finally {
    run(root, 'git', 'worktree', 'remove', '--force', sources);
  }
}

/** The packages of this tree, if the commit wants the same ones. */
function provideModules(sources: string): void {
  const lock = (folder: string) => readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (lock(sources) === lock(root)) symlinkSync(join(root, 'node_modules'), join(sources, 'node_modules'));
  else run(sources, 'npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
}

/** `0.1.0` -> `0.2.0`, so that the program sees which of two releases is newer. */
export function nextMinor(version: string): string {
  const [major = '0', minor = '0'] = version.split('.');
  return `${major}.${Number(minor) + 1}.0`;
}

/** The number of migrations in a release. */
export function migrationsOf({ folder }: Release): number {
  return readdirSync(join(folder, 'migrations')).filter((name) => /^\d{6}_/.test(name)).length;
}

/** A copy of an installed release, with the next version number. */
function successor(release: Release, place: string, name: string): Release {
  const home = join(place, name);
  cpSync(join(release.folder, '..', '..'), home, { recursive: true });
  const folder = join(home, 'node_modules', 'plinth');
  const manifestFile = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(manifestFile, 'utf8')) as { version: string };
  const version = nextMinor(manifest.version);
  writeFileSync(manifestFile, JSON.stringify({ ...manifest, version }));
  return { ...release, version, folder, mainFile: join(folder, 'bin', 'plinth.js') };
}

/** The next release, with a changed function in the database. */
export function withFunction(release: Release, place: string): Release {
  const changed = successor(release, place, 'installed-with-function');
  appendFileSync(join(changed.folder, 'migrations', 'functions', 'write_batch.sql'), '-- As of the next release.\n');
  return changed;
}

/** The next release, with one more migration. */
export function withMigration(release: Release, place: string): Release {
  const changed = successor(release, place, 'installed-with-migration');
  const migrations = join(changed.folder, 'migrations');
  writeFileSync(
    join(migrations, `${String(migrationsOf(release) + 1).padStart(6, '0')}_upgrade.sql`),
    [
      'create table plinth.upgrade_probe (id bigint primary key);',
      'alter table plinth.objects add column upgrade_probe text;',
      '',
    ].join('\n'),
  );
  return changed;
}
