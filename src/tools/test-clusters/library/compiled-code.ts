import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder in which Node keeps the compiled code of the server from one start to the next: without it, a start is
 * mostly compilation. Anyone who writes there can make the server do anything, so it is a folder that only this user
 * can enter; undefined without such a folder. Folders of earlier builds are removed.
 */
export function compiledCodeFolder(program: string): string | undefined {
  try {
    const parent = join(tmpdir(), `plinth-compiled-${process.getuid?.() ?? 0}`);
    makeOne(parent);
    const found = lstatSync(parent);
    const isOurs = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o077) === 0);
    if (!found.isDirectory() || !isOurs) return undefined;
    const { mtimeMs, size } = statSync(program);
    const key = createHash('sha256')
      .update(`${program} ${mtimeMs} ${size} ${process.version}`)
      .digest('hex')
      .slice(0, 16);
    const folder = join(parent, key);
    if (makeOne(folder)) removeOlder(parent, key);
    return folder;
  } catch {
    // The server starts without the folder, too.
    return undefined;
  }
}

/** Makes a folder; returns whether it is new. Node's recursive `mkdir` never returns in /proc. */
function makeOne(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

const mostBuilds = 4;

function removeOlder(parent: string, current: string): void {
  const others = readdirSync(parent)
    .filter((name) => name !== current)
    .map((name) => ({ path: join(parent, name), at: statSync(join(parent, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at);
  for (const { path } of others.slice(mostBuilds - 1)) rmSync(path, { recursive: true, force: true });
}
