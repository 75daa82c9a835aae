import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { makeFolder } from '../../../base/machinery/make-folder.js';
import { errorCode, StartupError } from '../../../base/machinery/startup-error.js';
import type { ServiceUser } from './service-user.js';

/**
 * Makes a folder that only the service user may enter. An existing folder must be that user's, or ours and empty: what
 * others could have put there is never handed over, nor what a link leads to. Everything is done to the folder that was
 * checked, whatever somebody puts in its place meanwhile.
 *
 * @throws StartupError when somebody else has the place
 */
export async function handOverFolder(path: string, user: ServiceUser, mode: number): Promise<void> {
  makeFolder(path, mode);
  const folder = await openFolder(path);
  try {
    const uid = user.uid ?? process.getuid?.() ?? 0;
    const present = await folder.stat();
    if (present.uid !== uid) {
      const isOurs = process.getuid?.() === 0 && present.uid === 0;
      if (isOurs && !(await isEmpty(folder, path))) {
        throw new StartupError(
          `${path} is neither empty nor a Postgres database of ${user.name}: choose another --data-dir`,
        );
      }
      if (!isOurs) {
        throw new StartupError(
          `${path} belongs to user id ${present.uid}, not to ${user.name}: remove it, give it to that user, or choose another --data-dir`,
        );
      }
      await folder.chown(uid, user.gid ?? present.gid);
    }
    if ((present.mode & 0o777) !== mode) await folder.chmod(mode);
  } finally {
    await folder.close();
  }
}

async function openFolder(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const code = errorCode(error) ?? '';
    // A link to a folder is ELOOP or ENOTDIR, depending on the system.
    if (code === 'ELOOP' || code === 'ENOTDIR')
      throw new StartupError(`${path} is a link or a file, not a folder: remove it`);
    if (code === 'EACCES') throw new StartupError(`${path} belongs to somebody else: remove it or run as its owner`);
    throw error;
  }
}

/** Checks the open folder where the system can list it; otherwise the folder by its name. */
async function isEmpty(folder: FileHandle, path: string): Promise<boolean> {
  const shown = process.platform === 'linux' ? `/proc/self/fd/${folder.fd}` : path;
  return (await readdir(shown)).length === 0;
}
