import { createHash } from 'node:crypto';
import { chmod, chown, mkdir, readdir, rename, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock } from '../../machinery/clock.js';
import { readFileIfPresent } from '../../machinery/files.js';
import { makeFolder } from '../../machinery/make-folder.js';
import { errorCode, StartupError } from '../../machinery/startup-error.js';
import { copyBinaries, ensureLibraryLinks, type PostgresBinaries } from './binaries.js';
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

/** A path of a unix socket has at most 107 bytes (103 on macOS); the file name takes up to 15 of them. */
const longestSocketDirectory = 88;

/**
 * Chooses the folders and makes them accessible to the service user only. When that user cannot pass through to
 * `directory` (for example below a home of mode 700, when we are root), data and a copy of the programs go below
 * `fallbackRoot`, and `postgres.json` in `directory` says where.
 */
export async function preparePostgresHome(options: PostgresHomeOptions): Promise<PostgresHome> {
  const { directory, user } = options;
  const place = await findPlace(options);
  const dataDirectory = join(place, 'postgres');
  const socketDirectory = await prepareSocketDirectory(place, directory, user);
  await own(dataDirectory, user, 0o700);
  const logDirectory = join(place, 'log');
  await own(logDirectory, user, 0o700);
  const copyRoot = user.uid === undefined ? directory : options.fallbackRoot;
  const binaries = await usableBinaries(options.binaries, user, copyRoot);
  return { binaries, dataDirectory, socketDirectory, logFile: join(logDirectory, 'postgres.log') };
}

async function findPlace({ directory, fallbackRoot, user, clock }: PostgresHomeOptions): Promise<string> {
  const { directory: recorded } = await readNote(directory);
  if (recorded !== undefined) {
    if (await exists(join(recorded, 'postgres'))) return recorded;
    throw new StartupError(
      `${notePath(directory)} says that the database is in ${recorded}, but it is not there: remove the note to start empty`,
    );
  }
  const here = join(directory, 'postgres');
  if (user.uid === undefined || (await exists(join(here, 'PG_VERSION'))) || canReach(user, directory)) return directory;

  const place = join(fallbackRoot, createHash('sha256').update(directory).digest('hex').slice(0, 16));
  makeFolder(place, 0o755);
  if (!canReach(user, place)) {
    throw new StartupError(
      `user ${user.name}, who runs the embedded Postgres, can reach neither ${directory} nor ${place}`,
    );
  }
  const left = join(place, 'postgres');
  // A database without a note belongs to a folder that was deleted: it is kept, but not taken over.
  if (await exists(left)) await rename(left, `${left}.left-${clock.now()}`);
  await mkdir(left, { mode: 0o700 });
  await changeNote(directory, { directory: place });
  return place;
}

async function prepareSocketDirectory(place: string, directory: string, user: ServiceUser): Promise<string> {
  const near = join(place, 'socket');
  const short = join(tmpdir(), `plinth-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}`);
  const path = Buffer.byteLength(near) <= longestSocketDirectory ? near : short;
  await own(path, user, 0o700);
  return path;
}

/** A folder of the service user that nobody else may enter. */
async function own(path: string, user: ServiceUser, mode: number): Promise<void> {
  makeFolder(path, mode);
  const uid = user.uid ?? process.getuid?.() ?? 0;
  const present = await stat(path);
  if (!present.isDirectory()) throw new StartupError(`${path} is not a folder`);
  if (present.uid !== uid) {
    if (process.getuid?.() !== 0) {
      throw new StartupError(
        `${path} belongs to user id ${present.uid}, not to ${user.name}: remove it or run as that user`,
      );
    }
    await adopt(path, uid, user.gid ?? present.gid);
  }
  if ((present.mode & 0o777) !== mode) await chmod(path, mode);
}

/** Hands a whole tree over: an earlier start may have run as another user. */
async function adopt(path: string, uid: number, gid: number): Promise<void> {
  await chown(path, uid, gid);
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) await chown(join(entry.parentPath, entry.name), uid, gid);
  }
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
