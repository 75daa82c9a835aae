import { promises as fs } from 'node:fs';
import { dirname } from 'node:path';
import { VolumeProblem } from './volume-sources.js';

/** Checks that a path of the machine is what a pod wants there, and makes what may be made. @throws VolumeProblem */
export async function prepareHostPath(path: string, type: string): Promise<void> {
  const wrong = (text: string) => new VolumeProblem(`hostPath type check failed: ${path} ${text}`);
  if (type === '') return;
  if (type === 'DirectoryOrCreate') {
    await fs.mkdir(path, { recursive: true, mode: 0o755 });
  } else if (type === 'FileOrCreate') {
    await (await fs.open(path, 'a', 0o644)).close().catch(() => undefined);
  }
  const found = await fs.stat(path).catch(() => undefined);
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
      throw new VolumeProblem(`${type} is no type of host path; ${dirname(path)} was not touched`);
  }
}
