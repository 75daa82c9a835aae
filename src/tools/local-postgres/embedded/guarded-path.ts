import type { Stats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { dirname, join, parse, resolve, sep } from 'node:path';

/** The most links that are followed, which is more than any sane path has. */
const mostLinks = 40;

/**
 * Whether nobody but us and root can change what a path leads to: each folder and link of it is ours or root's, and no
 * other user may write into a folder, except for adding entries beside ours (the sticky bit of /tmp).
 */
export async function isGuarded(path: string): Promise<boolean> {
  const us = process.getuid?.();
  if (us === undefined) return true;
  const { root } = parse(resolve(path));
  let links = 0;
  let at = root;
  let rest = resolve(path).slice(root.length).split(sep).filter(Boolean);
  for (;;) {
    const found = await lstat(at);
    if (found.uid !== 0 && found.uid !== us) return false;
    if (found.isSymbolicLink()) {
      links++;
      if (links > mostLinks) return false;
      const target = resolve(dirname(at), await readlink(at));
      rest = [...target.slice(root.length).split(sep).filter(Boolean), ...rest];
      at = root;
      continue;
    }
    if (!found.isDirectory() || othersWrite(found)) return false;
    const [next, ...further] = rest;
    if (next === undefined) return true;
    at = join(at, next);
    rest = further;
  }
}

function othersWrite({ mode }: Stats): boolean {
  const isSticky = (mode & 0o1000) !== 0;
  return (mode & 0o022) !== 0 && !isSticky;
}
