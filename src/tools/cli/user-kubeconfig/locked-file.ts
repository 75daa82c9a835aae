import { open, realpath, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../../../base/machinery/files.js';
import { makeFolder } from '../../../base/machinery/make-folder.js';
import { errorCode, StartupError } from '../../../base/machinery/startup-error.js';

const secretMode = 0o600;

/**
 * Changes a kubeconfig that kubectl may change as well: under the lock file that kubectl uses, whole or not at all, and
 * readable by its owner only. A file that isn't there counts as empty.
 *
 * @throws StartupError while somebody else holds the lock, and what `change` throws
 */
export async function changeKubeconfig(file: string, change: (text: string) => string): Promise<void> {
  // A symbolic link is kept: its target is replaced.
  const path = await realpath(file).catch(() => file);
  const lock = `${path}.lock`;
  makeFolder(dirname(path));
  try {
    await (await open(lock, 'wx', 0)).close();
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    throw new StartupError(`${lock} exists: something else changes the file; remove it if nothing does`);
  }
  try {
    await writeFileAtomically(path, change((await readFileIfPresent(path)) ?? ''), secretMode);
  } finally {
    await rm(lock, { force: true });
  }
}
