import { mkdirSync, readlinkSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileProblem } from './file-problem.js';
import { errorCode, StartupError } from './startup-error.js';

/**
 * Creates a folder and all its missing parents; new folders have the given mode. Blocks on the disk, so use it at
 * startup and not in requests. Node's own `recursive` option loops forever where the system reports that the parent
 * folder does not exist although it does, as in /proc.
 *
 * @returns whether the folder was created
 * @throws StartupError that names the folder, why it can't be created, and what helps
 */
export function makeFolder(path: string, mode = 0o777): boolean {
  return make(resolve(path), mode);
}

function make(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return stay(path);
    if (errorCode(error) !== 'ENOENT' || path === dirname(path)) throw refusal(path, error);
    make(dirname(path), mode);
  }
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    // Another process created it first.
    if (errorCode(error) === 'EEXIST') return stay(path);
    throw refusal(path, error);
  }
}

/** An existing entry of that name must be a folder, or a link to one. */
function stay(path: string): false {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return false;
  const advice = 'name another folder, or remove it';
  if (found !== undefined) throw new StartupError(`${path} is a file and no folder: ${advice}`);
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
      return `${parent} is no folder; name another`;
    default:
      return fileProblem(error);
  }
}
