import { constants, promises as fs } from 'node:fs';
import { ManifestError } from './manifest-error.js';

/** Larger files are not read as manifests. */
const mostBytes = 10 * 2 ** 20;
const { O_RDONLY, O_NONBLOCK } = constants;

/**
 * The text of a file with manifests. Neither a pipe nor a device holds up the caller, and no file fills the memory, whatever is exchanged or
 * written meanwhile.
 *
 * @throws ManifestError for what is no file, is empty, is too large, or changes while it is read
 */
export async function readManifestFile(path: string): Promise<string> {
  if (!(await fs.stat(path)).isFile()) throw new ManifestError('is not a file', true);
  await using handle = await fs.open(path, O_RDONLY | O_NONBLOCK);
  const before = await handle.stat();
  if (!before.isFile()) throw new ManifestError('is not a file', true);
  if (before.size > mostBytes) throw new ManifestError('is too large', true);
  const buffer = Buffer.alloc(before.size);
  let length = 0;
  for (let read = -1; read !== 0 && length < buffer.length; length += read)
    read = (await handle.read(buffer, length, buffer.length - length, length)).bytesRead;
  const { size, mtimeMs } = await handle.stat();
  if (size !== length || mtimeMs !== before.mtimeMs) throw new ManifestError('is being written', true);
  // Programs that write a file anew empty it first: that must not end its pods.
  if (length === 0) throw new ManifestError('is empty', true);
  return buffer.toString('utf8');
}
