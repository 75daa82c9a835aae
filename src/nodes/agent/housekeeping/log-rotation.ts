import { constants, promises as fs } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { ContainerRuntime } from '../cri/container-runtime.js';

/** `<log>.<time>`: earlier files of a log. All but the newest are compressed. */
const rotatedName = /\.\d{8}-\d{6}(\.gz)?$/;

/**
 * Begins a new file for a container's log when the present one is too large or renamed already, and removes the oldest
 * files.
 *
 * @param path where the runtime writes
 * @param most number of files to keep, including the present one
 */
export async function rotateLog(
  runtime: Pick<ContainerRuntime, 'reopenLog'>,
  containerId: string,
  path: string,
  maxBytes: number,
  most: number,
  now: number,
): Promise<boolean> {
  const found = await fs.lstat(path).catch(() => undefined);
  if (found === undefined) return reopenIfRotated(runtime, containerId, path);
  if (!found.isFile() || found.size < maxBytes) return false;
  const folder = dirname(path);
  const name = basename(path);
  const files = (await fs.readdir(folder)).filter((file) => file.startsWith(`${name}.`));
  for (const file of files) if (!rotatedName.test(file)) await fs.rm(join(folder, file), { force: true });
  const earlier = files.filter((file) => rotatedName.test(file)).sort();
  // One file is being written, and one is about to become the newest earlier file.
  for (const file of earlier.slice(0, Math.max(0, earlier.length - (most - 2))))
    await fs.rm(join(folder, file), { force: true });
  for (const file of earlier.slice(-(most - 2)))
    if (most > 2 && !file.endsWith('.gz')) await compress(join(folder, file));
  const time = new Date(now).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const rotated = `${path}.${time}`;
  await fs.rename(path, rotated);
  try {
    await runtime.reopenLog(containerId);
  } catch (error) {
    // The runtime still writes to the old file, whose entries must not be lost.
    await fs.rename(rotated, path).catch(() => undefined);
    throw error;
  }
  return true;
}

/** A process that was killed after it had renamed a log has left the runtime writing to the renamed file. */
async function reopenIfRotated(
  runtime: Pick<ContainerRuntime, 'reopenLog'>,
  containerId: string,
  path: string,
): Promise<boolean> {
  const start = `${basename(path)}.`;
  const files = await fs.readdir(dirname(path)).catch(() => []);
  if (!files.some((file) => file.startsWith(start) && rotatedName.test(file))) return false;
  await runtime.reopenLog(containerId);
  return true;
}

async function compress(path: string): Promise<void> {
  const waiting = `${path}.tmp`;
  // Neither file may be a link, and the compressed file must not replace an existing one.
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  await fs.rm(waiting, { force: true });
  const source = await fs.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const target = await fs.open(waiting, 'wx', 0o640);
  await pipeline(source.createReadStream(), createGzip(), target.createWriteStream());
  await fs.rename(waiting, `${path}.gz`);
  await fs.rm(path, { force: true });
}
