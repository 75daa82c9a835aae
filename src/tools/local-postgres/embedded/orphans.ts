import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileIfPresent } from '../../../base/machinery/files.js';
import { errorCode } from '../../../base/machinery/startup-error.js';
import { ownerName } from './home.js';
import { readNote } from './note.js';
import { isAlive, readPostmasterPid } from './postmaster.js';

/**
 * Where root's databases are kept when the user that runs Postgres can't reach their data folder, or others can change
 * it.
 */
export const databasesRoot = '/var/lib/plinth';

/** A folder of a database below the root. */
export interface KeptDatabase {
  readonly path: string;
  /** The data folder that it was made for; undefined for those of releases that did not record it. */
  readonly dataFolder: string | undefined;
  /** `used`: a data folder names it, or it runs. `orphaned`: its data folder is gone, or has another database now. */
  readonly state: 'used' | 'orphaned' | 'unknown';
}

const placePattern = /^[0-9a-f]{16}$/;
const leftPattern = /^postgres\.left-\d+$/;
const socketPattern = /^socket-[0-9a-f]{12}$/;

/** The databases below the root, in the order of their names; none without the root. */
export async function keptDatabases(root: string): Promise<readonly KeptDatabase[]> {
  const found: KeptDatabase[] = [];
  for (const name of (await namesIn(root)).filter((entry) => placePattern.test(entry))) {
    const place = join(root, name);
    const dataFolder = await recordedOwner(place);
    const inside = await namesIn(place);
    // Databases that a start put aside because no data folder named them.
    for (const left of inside.filter((entry) => leftPattern.test(entry))) {
      found.push({ path: join(place, left), dataFolder, state: 'orphaned' });
    }
    if (inside.includes('postgres')) found.push({ path: place, dataFolder, state: await stateOf(place, dataFolder) });
  }
  return found;
}

/**
 * Removes a database that `keptDatabases` reports as orphaned. The database is checked again just before.
 *
 * @returns whether it was removed
 */
export async function removeOrphan(root: string, path: string): Promise<boolean> {
  const now = (await keptDatabases(root)).find((kept) => kept.path === path);
  if (now?.state !== 'orphaned') return false;
  await rm(path, { recursive: true, force: true });
  if (now.dataFolder !== undefined && path.endsWith(placeOf(now.dataFolder))) {
    const socket = `socket-${hashOf(now.dataFolder).slice(0, 12)}`;
    if (socketPattern.test(socket)) await rm(join(root, socket), { recursive: true, force: true });
  }
  return true;
}

async function stateOf(place: string, dataFolder: string | undefined): Promise<KeptDatabase['state']> {
  const pid = await readPostmasterPid(join(place, 'postgres'));
  if (pid !== undefined && isAlive(pid)) return 'used';
  if (dataFolder === undefined) return 'unknown';
  try {
    await stat(dataFolder);
  } catch (error) {
    const code = errorCode(error);
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'orphaned' : 'unknown';
  }
  try {
    return (await readNote(dataFolder)).directory === place ? 'used' : 'orphaned';
  } catch {
    // The note is damaged: it may have named this database.
    return 'unknown';
  }
}

async function recordedOwner(place: string): Promise<string | undefined> {
  try {
    const { dataFolder } = JSON.parse((await readFileIfPresent(join(place, ownerName))) ?? '{}') as {
      dataFolder?: unknown;
    };
    return typeof dataFolder === 'string' && dataFolder.startsWith('/') ? dataFolder : undefined;
  } catch {
    return undefined;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(code)) return [];
    throw error;
  }
}

function placeOf(dataFolder: string): string {
  return hashOf(dataFolder).slice(0, 16);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
