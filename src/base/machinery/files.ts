import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileProblem } from './file-problem.js';
import { makeFolder } from './make-folder.js';
import { errorCode, StartupError } from './startup-error.js';

/** The owner that a new file is given. */
export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Writes a file whole or not at all, whatever stops the process. `mode` also applies when the file exists. The file has
 * its mode and owner from the start: nobody can open it before they are set, and no link can be put in its place
 * meanwhile.
 *
 * @throws StartupError that names the file and the reason why it can't be written
 */
export async function writeFileAtomically(
  path: string,
  content: string,
  mode: number,
  owner?: FileOwner,
): Promise<void> {
  await replace(path, async (temporary) => {
    const file = await open(temporary, 'wx', mode & 0o600);
    try {
      await file.writeFile(content);
      if (owner !== undefined) await file.chown(owner.uid, owner.gid);
      await file.chmod(mode);
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  });
}

/**
 * Makes sure that {@link writeFileAtomically} can write a file, before any work is done that a failure would waste.
 * Creates the file's folder.
 *
 * @throws StartupError like {@link writeFileAtomically}
 */
export async function checkWritable(path: string): Promise<void> {
  await replace(path, async (temporary) => {
    await writeFile(temporary, '', { mode: 0o600, flag: 'wx' });
    await rm(temporary);
  });
}

/**
 * Refuses everything except files: a folder can't be replaced, and replacing a device would take it away from
 * everybody.
 */
export async function refuseOtherThanFile(path: string): Promise<void> {
  const present = await stat(path).catch(() => undefined);
  if (present === undefined || present.isFile()) return;
  const what = present.isDirectory() ? 'a folder' : 'a device or a pipe';
  throw new StartupError(`${path} can't be written: it is ${what}: name a file`);
}

async function replace(path: string, write: (temporary: string) => Promise<void>): Promise<void> {
  makeFolder(dirname(path));
  await refuseOtherThanFile(path);
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await write(temporary);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw new StartupError(`${path} can't be written: ${fileProblem(error)}`, { cause: error });
  }
}

/** The text of a file; undefined when the file does not exist. */
export async function readFileIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}
