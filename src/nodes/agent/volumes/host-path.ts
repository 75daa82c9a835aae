import { promises as fs, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { makeFile } from './inside.js';
import { VolumeProblem } from './volume-problem.js';

/**
 * Checks that a host path has the type that the pod declares, and creates it if the type allows that. @throws
 * VolumeProblem
 */
export async function prepareHostPath(path: string, type: string): Promise<void> {
  if (type === '') return;
  // The file is never opened: opening may have effects, and a pipe would block the agent.
  if (type === 'DirectoryOrCreate') {
    await fs.mkdir(path, { recursive: true, mode: 0o755 }).catch(unlessThere);
  } else if (type === 'FileOrCreate') {
    await makeFile(path, '', 0o644).catch(unlessThere);
  }
  const found = await fs.stat(path).catch(() => undefined);
  const wrong = (text: string) => new VolumeProblem(`hostPath type check failed${problemOf(path, found, text)}`);
  switch (type) {
    case 'DirectoryOrCreate':
    case 'Directory':
      if (found?.isDirectory() !== true) throw wrong('is not a directory');
      return;
    case 'FileOrCreate':
    case 'File':
      if (found?.isFile() !== true) throw wrong('is not a file');
      return;
    case 'Socket':
      if (found?.isSocket() !== true) throw wrong('is not a socket file');
      return;
    case 'CharDevice':
      if (found?.isCharacterDevice() !== true) throw wrong('is not a character device');
      return;
    case 'BlockDevice':
      if (found?.isBlockDevice() !== true) throw wrong('is not a block device');
      return;
    default:
      throw new VolumeProblem(`${type} is not a type of host path; ${dirname(path)} was not touched`);
  }
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

function problemOf(path: string, found: Stats | undefined, text: string): string {
  if (found === undefined) return `, ${path} ${text}, unable to determine its type: path "${path}" does not exist`;
  const type = typeOf(found);
  if (type !== undefined) return `: ${path} ${text}, it's a ${type}`;
  const known = 'only recognise file, directory, socket, block device and character device';
  return `, ${path} ${text}, unable to determine its type: ${known}`;
}

/** The host path type of a file; undefined: none. */
function typeOf(found: Stats): string | undefined {
  if (found.isDirectory()) return 'Directory';
  if (found.isFile()) return 'File';
  if (found.isSocket()) return 'Socket';
  if (found.isFIFO()) return undefined;
  return found.isCharacterDevice() ? 'CharDevice' : 'BlockDevice';
}
