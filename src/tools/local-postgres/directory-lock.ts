import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, StartupError } from '../../base/machinery/startup-error.js';
import { isAlive } from './embedded/postmaster.js';

/** The file that is the lock of a folder. */
export const lockName = 'plinth.pid';

/** The right to use a data folder. It has one holder at a time. */
export interface DirectoryLock {
  release(): Promise<void>;
}

/**
 * Takes the lock of a folder. A lock whose process has ended is taken over, even if its number went to another process,
 * or if nobody has collected the process yet.
 *
 * @param flag the flag that chooses another folder
 * @throws StartupError naming the pid of the process that holds it.
 */
export async function lockDirectory(directory: string, flag = '--data-dir'): Promise<DirectoryLock> {
  const path = join(directory, lockName);
  // A name that nobody can guess: other users with write access to the folder could have created a link under a known
  // one.
  const own = join(directory, `${lockName}.${randomBytes(6).toString('hex')}`);
  await writeFile(own, `${process.pid} ${await processStart(process.pid)}\n`, { mode: 0o644, flag: 'wx' });
  try {
    // Linking a finished file makes the lock appear with its whole content or not at all.
    while (!(await tryLink(own, path))) {
      const holder = await readHolder(path);
      if (holder === 'gone') continue;
      if (holder !== undefined) {
        throw new StartupError(`another plinth (pid ${holder}) uses ${directory}: stop it, or choose another ${flag}`);
      }
      await rm(path, { force: true });
    }
  } finally {
    await rm(own, { force: true });
  }
  return { release: () => rm(path, { force: true }) };
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (errorCode(error) !== 'EPERM' && errorCode(error) !== 'ENOTSUP') throw error;
  }
  // Without hard links, as on some file systems, the lock file is created directly.
  try {
    const file = await open(to, 'wx', 0o644);
    await file.writeFile(await readFile(from));
    await file.close();
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** The pid of the living holder, `gone` when the file has vanished, undefined when its process has ended. */
async function readHolder(path: string): Promise<number | 'gone' | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'gone';
    throw error;
  }
  const [pidText, start = ''] = text.trim().split(' ');
  const pid = Number(pidText);
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid || !isAlive(pid)) return undefined;
  return (await processStart(pid)) === start ? pid : undefined;
}

/** When a running process started, as an opaque string; `ended` for one that has; empty where the system does not report it. */
async function processStart(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The program's name, in parentheses, may contain anything; a letter and numbers follow it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A process that has ended keeps its number until its parent asks for its exit code.
    return fields[0] === 'Z' || fields[0] === 'X' ? 'ended' : (fields[19] ?? '');
  } catch {
    return '';
  }
}
