import { randomBytes } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { makeFile, safeParts } from './inside.js';
import { PathEscape } from './path-escape.js';

/** A file of a volume. */
export interface ProjectedFile {
  readonly content: Buffer;
  readonly mode: number;
  /** The owner of the file, if not root. */
  readonly owner?: number;
}

/** Files by their paths in the volume. */
export type Payload = ReadonlyMap<string, ProjectedFile>;

/** The link through which all files of a volume change at once. */
const dataLink = '..data';
const nextLink = '..data_tmp';

/** The names of the folders behind the link. */
const dataFolder = /^\.\.\d{4}_[\w.]+$/;

/**
 * Brings the files of a volume to a new state, atomically for every reader: the files are in a folder with the time in
 * its name, the link `..data` leads to that folder, and links with the names of the files lead through `..data`. Writes
 * nothing if nothing has changed.
 *
 * @param group the group of all files; undefined: that of this process
 * @returns whether anything was written
 * @throws PathEscape for paths that lead out of the volume
 */
export async function writeAtomically(folder: string, payload: Payload, group: number | undefined): Promise<boolean> {
  for (const path of payload.keys()) checkPath(path);
  const files = group === undefined ? payload : readableByGroup(payload);
  const before = await readLink(join(folder, dataLink));
  if (before !== undefined && (await hasContent(join(folder, before), files))) {
    // A process that was killed after the exchange has made no links, or not all.
    await linkNames(folder, before, payload, group);
    return false;
  }
  const name = `..${new Date().toISOString().replace(/[-:T]/g, '_').slice(0, 19)}.${randomBytes(4).readUInt32BE()}`;
  const fresh = join(folder, name);
  await makeFolder(fresh, group);
  try {
    for (const [path, file] of files) await writeFile(fresh, path, file, group);
    const link = join(folder, nextLink);
    await fs.rm(link, { force: true });
    await fs.symlink(name, link);
    await fs.rename(link, join(folder, dataLink));
  } catch (error) {
    await fs.rm(fresh, { recursive: true, force: true });
    throw error;
  }
  await linkNames(folder, name, payload, group);
  return true;
}

function readableByGroup(payload: Payload): Payload {
  return new Map([...payload].map(([path, file]) => [path, { ...file, mode: file.mode | 0o440 }]));
}

function checkPath(path: string): void {
  const parts = safeParts(path);
  if (parts.length === 0) throw new PathEscape('a file of a volume needs a path');
  if ((parts[0] as string).startsWith('..')) throw new PathEscape(`${path} must not begin with ".."`);
}

async function readLink(path: string): Promise<string | undefined> {
  let target: string;
  try {
    target = await fs.readlink(path);
  } catch {
    return undefined;
  }
  // Only a link that this writer made is followed.
  return /^\.\.[\w.]+$/.test(target) && !target.includes('/') ? target : undefined;
}

async function hasContent(folder: string, payload: Payload): Promise<boolean> {
  try {
    const present = await filesBelow(folder);
    if (present.length !== payload.size) return false;
    for (const [path, { content, mode }] of payload) {
      const full = join(folder, path);
      if (((await fs.stat(full)).mode & 0o777) !== (mode & 0o777)) return false;
      if (!(await fs.readFile(full)).equals(content)) return false;
    }
    return true;
  } catch {
    return false;
  }
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
}

async function writeFile(
  folder: string,
  path: string,
  { content, mode, owner }: ProjectedFile,
  group: number | undefined,
): Promise<void> {
  const parts = safeParts(path);
  const full = join(folder, ...parts);
  for (let depth = 1; depth < parts.length; depth++) await makeFolder(join(folder, ...parts.slice(0, depth)), group);
  await makeFile(full, content, mode);
  if (owner !== undefined || group !== undefined) await fs.chown(full, owner ?? 0, group ?? 0);
}

/** With the set-group-ID bit, new files get the group of their folder. */
async function makeFolder(path: string, group: number | undefined): Promise<void> {
  await fs.mkdir(path, { recursive: true });
  if (group !== undefined) await fs.chown(path, 0, group);
  // The umask of this process clears bits.
  await fs.chmod(path, group === undefined ? 0o755 : 0o2755);
}

/**
 * Makes links for the first component of every path. Removes the links of deleted files, and all earlier folders with
 * files.
 *
 * @param present the name of the folder that the files are in
 */
async function linkNames(folder: string, present: string, payload: Payload, group: number | undefined): Promise<void> {
  /** The owner of the first file of each link. */
  const wanted = new Map<string, number | undefined>();
  for (const [path, { owner }] of payload) {
    const name = safeParts(path)[0] as string;
    if (!wanted.has(name)) wanted.set(name, owner);
  }
  for (const entry of await fs.readdir(folder)) {
    const isOwn = entry.startsWith('..') && (entry === present || !dataFolder.test(entry));
    if (isOwn || wanted.has(entry)) continue;
    await fs.rm(join(folder, entry), { recursive: true, force: true });
  }
  for (const [name, owner] of wanted) {
    try {
      await fs.symlink(join(dataLink, name), join(folder, name));
      if (owner !== undefined) await fs.lchown(join(folder, name), owner, group ?? 0);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
