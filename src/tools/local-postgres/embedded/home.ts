import { createHash } from 'node:crypto';
import { mkdir, rename, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Clock } from '../../../base/machinery/clock.js';
import { readFileIfPresent, writeFileAtomically } from '../../../base/machinery/files.js';
import { makeFolder } from '../../../base/machinery/make-folder.js';
import { errorCode, StartupError } from '../../../base/machinery/startup-error.js';
import { copyBinaries, ensureLibraryLinks, type PostgresBinaries } from './binaries.js';
import { isGuarded } from './guarded-path.js';
import { handOverFolder } from './hand-over.js';
import { changeNote, notePath, readNote } from './note.js';
import { runAs, type ServiceUser } from './service-user.js';

/** The folders of one embedded Postgres. */
export interface PostgresHome {
  readonly binaries: PostgresBinaries;
  readonly dataDirectory: string;
  readonly socketDirectory: string;
  readonly logFile: string;
}

export interface PostgresHomeOptions {
  /** The folder the user chose, absolute. */
  readonly directory: string;
  /** Root of the folders to use when the service user cannot reach `directory`. */
  readonly fallbackRoot: string;
  readonly user: ServiceUser;
  readonly binaries: PostgresBinaries;
  readonly clock: Clock;
}

/** A file in the folder of a database, which names the data folder that the database belongs to. */
export const ownerName = 'data-folder.json';

/** A path of a unix socket has at most 107 bytes (103 on macOS); the file name takes up to 15 of them. */
const longestSocketDirectory = 88;

/**
 * Chooses the folders and makes them accessible to the service user only. When we are root, and that user cannot pass
 * through to `directory` (below a home of mode 700) or other users can change it, data and a copy of the programs go below
 * `fallbackRoot`, and `postgres.json` in `directory` says where.
 */
export async function preparePostgresHome(options: PostgresHomeOptions): Promise<PostgresHome> {
  const { directory, user } = options;
  const place = await findPlace(options);
  const dataDirectory = join(place, 'postgres');
  const socketDirectory = await prepareSocketDirectory(place, options);
  await handOverFolder(dataDirectory, user, 0o700);
  const logDirectory = join(place, 'log');
  await handOverFolder(logDirectory, user, 0o700);
  const copyRoot = user.uid === undefined ? directory : options.fallbackRoot;
  const binaries = await usableBinaries(options.binaries, user, copyRoot);
  return { binaries, dataDirectory, socketDirectory, logFile: join(logDirectory, 'postgres.log') };
}

async function findPlace(options: PostgresHomeOptions): Promise<string> {
  const { directory, fallbackRoot, user, clock } = options;
  const place = join(fallbackRoot, createHash('sha256').update(directory).digest('hex').slice(0, 16));
  const { directory: recorded } = await readNote(directory);
  if (recorded !== undefined) {
    // A user who can write the note could otherwise make the service user the owner of any folder.
    if (dirname(resolve(recorded)) !== resolve(fallbackRoot)) {
      throw new StartupError(
        `${notePath(directory)} names ${recorded}, which is not in ${fallbackRoot}: remove the note`,
      );
    }
    await checkFallback(fallbackRoot);
    if (!(await exists(join(recorded, 'postgres')))) {
      throw new StartupError(
        `${notePath(directory)} says that the database is in ${recorded}, but it is not there: remove the note to start empty`,
      );
    }
    await recordOwner(recorded, directory);
    return recorded;
  }
  const here = join(directory, 'postgres');
  if (user.uid === undefined || (await exists(join(here, 'PG_VERSION')))) return directory;
  if (canReach(user, directory) && (await isGuarded(directory))) return directory;

  makeFolder(place, 0o755);
  await checkFallback(fallbackRoot);
  if (!canReach(user, place)) {
    throw new StartupError(
      `user ${user.name}, who runs the embedded Postgres, can reach neither ${directory} nor ${place}`,
    );
  }
  const left = join(place, 'postgres');
  // A database without a note belongs to a folder that was deleted: it is kept, but not adopted.
  if (await exists(left)) await rename(left, `${left}.left-${clock.now()}`);
  await recordOwner(place, directory);
  await mkdir(left, { mode: 0o700 });
  await changeNote(directory, { directory: place });
  return place;
}

/** Data folders that moved take their database along: the one that starts last counts. */
async function recordOwner(place: string, directory: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  await writeFileAtomically(join(place, ownerName), `${JSON.stringify({ dataFolder: directory })}\n`, 0o644);
}

async function checkFallback(fallbackRoot: string): Promise<void> {
  if (process.getuid?.() !== 0 || (await isGuarded(fallbackRoot))) return;
  throw new StartupError(
    `${fallbackRoot}, where databases of root are kept, can be changed by other users: chown and chmod it`,
  );
}

/**
 * The path of a socket must be short. Root's is never in a folder that others write to: someone who got there first
 * could have anything handed over.
 */
async function prepareSocketDirectory(place: string, options: PostgresHomeOptions): Promise<string> {
  const { directory, fallbackRoot, user } = options;
  const near = join(place, 'socket');
  const isShort = Buffer.byteLength(near) <= longestSocketDirectory;
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 12);
  const far = user.uid === undefined ? join(tmpdir(), `plinth-${name}`) : join(fallbackRoot, `socket-${name}`);
  if (!isShort && user.uid !== undefined) {
    makeFolder(fallbackRoot, 0o755);
    await checkFallback(fallbackRoot);
  }
  const path = isShort ? near : far;
  await handOverFolder(path, user, 0o700);
  return path;
}

/**
 * Programs that the user can run: those in place, or a copy below `copyRoot` when the user cannot reach them or their
 * library links are missing and cannot be made.
 *
 * @throws StartupError when they do not run on this system at all.
 */
export async function usableBinaries(
  binaries: PostgresBinaries,
  user: ServiceUser,
  copyRoot: string,
): Promise<PostgresBinaries> {
  const linked = await ensureLibraryLinks(binaries);
  const probe = runAs(user, binaries.postgres, ['--version']);
  if (linked && probe.ok) return binaries;
  if (linked && user.uid === undefined) throw unusable(binaries, probe.output);
  const version = createHash('sha256')
    .update(binaries.root)
    .update(await packageVersion(binaries))
    .digest('hex');
  const copy = await copyBinaries(binaries, join(copyRoot, `postgres-programs-${version.slice(0, 12)}`));
  const second = runAs(user, copy.postgres, ['--version']);
  if (!second.ok) throw unusable(copy, second.output);
  return copy;
}

async function packageVersion(binaries: PostgresBinaries): Promise<string> {
  return (await readFileIfPresent(join(dirname(binaries.root), 'package.json'))) ?? '';
}

function unusable(binaries: PostgresBinaries, output: string): StartupError {
  return new StartupError(
    `the embedded Postgres does not run on this system (${binaries.postgres}: ${output}): ` +
      'use a PostgreSQL of your own with --database-url',
  );
}

function canReach(user: ServiceUser, path: string): boolean {
  return runAs(user, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', path]).ok;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
