import { constants, promises as fs } from 'node:fs';
import { join } from 'node:path';
import { PathEscape } from './path-escape.js';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_CREAT, O_EXCL, O_WRONLY } = constants;
/**
 * Linux's flag that refers to a file without opening it, so that devices and pipes notice nothing. Node does not name
 * it.
 */
const O_PATH = 0o10000000;

/** Splits a relative path. @throws PathEscape for absolute paths and those with `..` */
export function safeParts(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (path.startsWith('/') || parts.includes('..')) throw new PathEscape(`${path} must be a path inside of the volume`);
  if (path.includes('\0')) throw new PathEscape('a path must not contain a null character');
  return parts;
}

/** An open file or folder. Access through it reaches exactly this file, even if its path changes. */
export interface OpenPlace extends AsyncDisposable {
  /** A path that leads to the file as long as it is open, for other programs too. */
  readonly path: string;
  readonly isFolder: boolean;
}

function placeOf(handle: fs.FileHandle, isFolder: boolean): OpenPlace {
  return {
    path: `/proc/${process.pid}/fd/${handle.fd}`,
    isFolder,
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/**
 * Opens a path below a folder that others may change at the same time. Symbolic links are followed as long as they lead
 * to a place inside the folder; then each component is opened separately and must not be a link. So no file outside can
 * be reached, even if components are exchanged meanwhile.
 *
 * @param create creates missing folders of the path
 * @throws PathEscape
 */
export async function openInside(folder: string, path: string, create?: { readonly mode: number }): Promise<OpenPlace> {
  const { root, parts } = await resolveInside(folder, path);
  let handle = await fs.open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    for (const [i, part] of parts.entries()) {
      const next = await openPart(handle, part, i === parts.length - 1, create);
      await handle.close();
      handle = next;
    }
    return placeOf(handle, (await handle.stat()).isDirectory());
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opens a file below a folder for reading, as {@link openInside} does. @throws PathEscape */
export async function openFileInside(folder: string, path: string): Promise<fs.FileHandle> {
  await using place = await openInside(folder, path);
  if (!(await fs.stat(place.path)).isFile()) throw new PathEscape(`${path} is not a file`);
  // Awaited here, since the folder must stay open until the file is open.
  return await fs.open(place.path, O_RDONLY);
}

/** A path to a name in a folder through the open folder. */
function below(handle: fs.FileHandle, name: string): string {
  return `/proc/self/fd/${handle.fd}/${name}`;
}

async function openPart(
  parent: fs.FileHandle,
  name: string,
  isLast: boolean,
  create: { readonly mode: number } | undefined,
): Promise<fs.FileHandle> {
  const path = below(parent, name);
  if (create !== undefined) {
    try {
      await fs.mkdir(path, { mode: create.mode });
      // The umask of this process clears bits.
      const made = await fs.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      await made.chmod(create.mode);
      return made;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  const handle = await fs.open(path, O_PATH | O_NOFOLLOW);
  try {
    const kind = await handle.stat();
    if (kind.isSymbolicLink()) throw new PathEscape(`${name} has become a link`);
    if (!kind.isDirectory() && !isLast) throw new PathEscape(`${name} is not a folder`);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The components of the path with its links resolved, as far as it exists. */
async function resolveInside(
  folder: string,
  path: string,
): Promise<{ readonly root: string; readonly parts: readonly string[] }> {
  const parts = safeParts(path);
  const root = await fs.realpath(folder);
  for (let known = parts.length; known > 0; known--) {
    let real: string;
    try {
      real = await fs.realpath(join(root, ...parts.slice(0, known)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
      throw error;
    }
    if (real !== root && !real.startsWith(root === '/' ? root : `${root}/`))
      throw new PathEscape(`${path} leads out of the volume`);
    return { root, parts: [...safeParts(real.slice(root === '/' ? 1 : root.length + 1)), ...parts.slice(known)] };
  }
  return { root, parts };
}

/** Creates a file that must not exist yet. */
export async function makeFile(path: string, content: string | Buffer, mode: number): Promise<void> {
  const handle = await fs.open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, mode);
  try {
    await handle.writeFile(content);
    await handle.chmod(mode);
  } finally {
    await handle.close();
  }
}
