import { createHash } from 'node:crypto';
import { chmod, lstat, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readFileIfPresent } from '../../../base/machinery/files.js';
import { makeFolder } from '../../../base/machinery/make-folder.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { findBinaries, type PostgresBinaries } from '../embedded/binaries.js';

/** The files of one shared Postgres. */
export interface KeeperPlace {
  readonly directory: string;
  /** Where the keeper listens. */
  readonly socket: string;
  readonly log: string;
  /** Held by the process that starts the keeper. */
  readonly startLock: string;
  /** Held by the keeper. */
  readonly keeperLock: string;
  readonly binaries: PostgresBinaries;
}

/** Raised when a keeper and its users of different releases no longer understand each other. */
const protocol = 1;
/** A path of a unix socket has at most 103 bytes on macOS. */
const longestSocket = 103;

/**
 * The place of this user's shared Postgres below the folder of temporary files, made if necessary. There is one for each
 * version of the Postgres package, or for the Postgres of the system without one.
 *
 * @throws StartupError when no Postgres is installed, or somebody else owns the folder.
 */
export async function keeperPlace(temporary: string = tmpdir()): Promise<KeeperPlace> {
  const binaries = await findBinaries();
  const { root } = binaries;
  const version = (await readFileIfPresent(join(dirname(root), 'package.json'))) ?? root;
  const key = createHash('sha256').update(version).digest('hex').slice(0, 8);
  const name = `plinth-postgres-${process.getuid?.() ?? 0}-${protocol}-${key}`;
  const usual = placeIn(join(temporary, name), binaries);
  const fits = Buffer.byteLength(usual.socket) <= longestSocket && (await othersPass(temporary));
  const place = fits ? usual : placeIn(join('/tmp', name), binaries);
  await ownFolder(place.directory);
  makeFolder(place.startLock, 0o700);
  makeFolder(place.keeperLock, 0o700);
  return place;
}

/** For root, Postgres runs as another user, who has to get to its data. */
async function othersPass(folder: string): Promise<boolean> {
  if (process.getuid?.() !== 0) return true;
  try {
    for (let path = resolve(folder); ; path = dirname(path)) {
      if (((await stat(path)).mode & 0o001) === 0) return false;
      if (path === dirname(path)) return true;
    }
  } catch {
    // A missing folder is created later.
    return true;
  }
}

function placeIn(directory: string, binaries: PostgresBinaries): KeeperPlace {
  return {
    directory,
    socket: join(directory, 'keeper.sock'),
    log: join(directory, 'keeper.log'),
    startLock: join(directory, 'start'),
    keeperLock: join(directory, 'keeper'),
    binaries,
  };
}

/**
 * Makes the folder, or checks it: anybody may make folders beside it, so it must be ours. The user that runs Postgres
 * for root passes through.
 */
async function ownFolder(directory: string): Promise<void> {
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  try {
    makeFolder(directory, mode);
  } catch (error) {
    throw new StartupError(
      `the shared Postgres has no place: ${(error as Error).message}; set TMPDIR to a folder that you may write`,
      { cause: error },
    );
  }
  const present = await lstat(directory);
  if (!present.isDirectory() || present.uid !== (process.getuid?.() ?? present.uid)) {
    throw new StartupError(`${directory} belongs to somebody else: remove it, or set TMPDIR to a folder of your own`);
  }
  if ((present.mode & 0o777) !== mode) await chmod(directory, mode);
}
