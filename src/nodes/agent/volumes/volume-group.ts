import { constants, promises as fs } from 'node:fs';
import { join } from 'node:path';
import { openInside } from './inside.js';
import { PathEscape } from './path-escape.js';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
const ofFolder = 0o2770;
const ofFile = 0o660;
/** Errors of folders to which no path leads (any more). */
const unreachable = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

/**
 * Gives all files of a volume to a group, with read and write access. Follows no link, even if files are exchanged for
 * links meanwhile.
 *
 * @param onlyIfRootDiffers does nothing if the folder of the volume already belongs to the group
 */
export async function giveToGroup(folder: string, group: number, onlyIfRootDiffers: boolean): Promise<void> {
  const root = await fs.stat(folder);
  if (onlyIfRootDiffers && root.gid === group && (root.mode & ofFolder) === ofFolder) return;
  const waiting = ['.'];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    try {
      waiting.push(...(await giveFolder(folder, next, group)));
    } catch (error) {
      // Somebody who exchanges a folder for a link, removes it, or nests folders deeper than paths can be, must not keep others
      // from their volume.
      const isGone = unreachable.has((error as NodeJS.ErrnoException).code ?? '');
      if (next === '.' || !(isGone || error instanceof PathEscape)) throw error;
    }
  }
}

/** Returns the subfolders. */
async function giveFolder(folder: string, path: string, group: number): Promise<string[]> {
  await using place = await openInside(folder, path);
  if (!place.isFolder) return [];
  const folders: string[] = [];
  for (const name of await fs.readdir(place.path)) {
    const inside = `${place.path}/${name}`;
    const found = await fs.lstat(inside).catch(() => undefined);
    if (found?.isDirectory()) folders.push(join(path, name));
    else if (found?.isFile()) await giveFile(inside, group);
    else if (found !== undefined) await fs.lchown(inside, found.uid, group);
  }
  const { uid, mode } = await fs.stat(place.path);
  await fs.chown(place.path, uid, group);
  await fs.chmod(place.path, (mode & 0o7777) | ofFolder);
  return folders;
}

async function giveFile(path: string, group: number): Promise<void> {
  const file = await fs.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return;
  try {
    const found = await file.stat();
    if (!found.isFile()) return;
    await file.chown(found.uid, group);
    await file.chmod((found.mode & 0o7777) | ofFile);
  } finally {
    await file.close();
  }
}
