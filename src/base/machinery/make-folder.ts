import { chmodSync, mkdirSync, readlinkSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileProblem } from './file-problem.js';
import { errorCode, StartupError } from './startup-error.js';

/**
 * Creates a folder and all its missing parents; new folders have the given mode, whatever the umask of the process. Blocks on the disk, so use it at
 * startup and not in requests. Node's own `recursive` option loops forever where the system reports that the parent
 * folder does not exist although it does, as in /proc.
 *
 * @returns whether the folder was created
 * @throws StartupError that names the folder, why it can't be created, and what helps
 */
export function makeFolder(path: string, mode?: number): boolean {
  return make(resolve(path), mode);
}

function make(path: string, mode: number | undefined): boolean {
  try {
    return makeOne(path, mode);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return stay(path);
    if (errorCode(error) !== 'ENOENT' || path === dirname(path)) throw refusal(path, error);
    make(dirname(path), mode);
  }
  try {
    return makeOne(path, mode);
  } catch (error) {
    // Another process created it first.
    if (errorCode(error) === 'EEXIST') return stay(path);
    throw refusal(path, error);
  }
}

function makeOne(path: string, mode: number | undefined): true {
  mkdirSync(path, { mode });
  if (mode === undefined) return true;
  try {
    // Services of systemd and careful administrators have a umask with which no other user could enter a shared folder.
    chmodSync(path, mode);
  } catch {
    // A file system without modes. The folder never has more rights than were asked for.
  }
  return true;
}

/** An existing entry of that name must be a folder, or a link to one. */
function stay(path: string): false {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return false;
  const advice = 'name another folder, or remove it';
  if (found !== undefined) throw new StartupError(`${path} is a file, not a folder: ${advice}`);
  throw new StartupError(`${path} is a link to ${readlinkSync(path)}, which is not there: ${advice}`);
}

function refusal(path: string, error: unknown): StartupError {
  const parent = dirname(path);
  return new StartupError(`the folder ${path} can't be made: ${reasonOf(parent, error)}`, { cause: error });
}

function reasonOf(parent: string, error: unknown): string {
  switch (errorCode(error)) {
    case 'ENOENT':
      return `${parent} takes none; name another`;
    case 'EACCES':
    case 'EPERM':
      return `you may not write in ${parent}; change its rights, or name another`;
    case 'ENOTDIR':
      return `${parent} is not a folder; name another`;
    default:
      return fileProblem(error);
  }
}
