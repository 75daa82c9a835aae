import { execFile } from 'node:child_process';
import { promises as fs } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The mount table contains blanks and backslashes as octal numbers. */
function unescapePath(path: string): string {
  return path.replace(/\\(\d{3})/g, (_all, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** The mount points below a folder, deepest first. */
export async function mountsBelow(folder: string): Promise<string[]> {
  const table = await fs.readFile('/proc/self/mountinfo', 'utf8');
  return table
    .split('\n')
    .map((line) => unescapePath(line.split(' ')[4] ?? ''))
    .filter((path) => path.startsWith(`${folder}/`) || path === folder)
    .sort((a, b) => b.length - a.length);
}

export async function isMounted(path: string): Promise<boolean> {
  return (await mountsBelow(path)).includes(path);
}

/**
 * Whether a folder is the top of a file system of its own. Needs no mount table, which is long where pods have many volumes; only a bind
 * mount of the same file system is not recognized. Not for file systems of other machines, which may not answer.
 */
export async function hasFileSystem(folder: string): Promise<boolean> {
  const [own, above] = await Promise.all([fs.stat(folder), fs.stat(dirname(folder))]);
  return own.dev !== above.dev;
}

export interface MemoryMount {
  /** In bytes; undefined: the kernel's default. */
  readonly size: number | undefined;
  /** The mode and the group of the top folder. */
  readonly mode: number;
  readonly group: number | undefined;
}

/** Mounts a file system in memory, whose top folder is accessible as wanted from the beginning. */
export async function mountMemory(path: string, { size, mode, group }: MemoryMount): Promise<void> {
  const options = [`mode=${mode.toString(8)}`];
  if (size !== undefined) options.push(`size=${size}`);
  if (group !== undefined) options.push(`gid=${group}`);
  const mount = (all: readonly string[]) => run('mount', ['-t', 'tmpfs', '-o', all.join(','), 'tmpfs', path]);
  // Older kernels don't know `noswap`.
  await mount(['noswap', ...options]).catch(() => mount(options));
}

/**
 * Bind-mounts one path at another. The source may be an open file of this process; links in its path are then not
 * followed.
 */
export async function bindMount(source: string, target: string): Promise<void> {
  await run('mount', ['--no-canonicalize', '--bind', source, target]);
}

export async function mountNfs(server: string, exported: string, target: string, isReadOnly: boolean): Promise<void> {
  const options = isReadOnly ? ['-o', 'ro'] : [];
  await run('mount', ['-t', 'nfs', ...options, `${server}:${exported}`, target]);
}

export async function unmount(path: string): Promise<void> {
  await run('umount', ['--no-canonicalize', path]);
}

/** Unmounts all mount points below a folder. @throws Error if one remains */
export async function unmountBelow(folder: string): Promise<void> {
  for (const path of await mountsBelow(folder)) await unmount(path);
  const left = await mountsBelow(folder);
  if (left.length > 0) throw new Error(`${left[0]} is still mounted`);
}
