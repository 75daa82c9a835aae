import { lstat, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** How files are named while they are written: the name that they get, and this. */
const unfinished = /^\.[0-9a-f]{12}$/;

/** Removes the unfinished files that a killed process left behind: they may contain secrets. Links stay. */
export async function removeUnfinished(path: string): Promise<void> {
  const folder = dirname(path);
  for (const entry of await readdir(folder).catch(() => [])) {
    if (!entry.startsWith(basename(path)) || !unfinished.test(entry.slice(basename(path).length))) continue;
    const found = await lstat(join(folder, entry)).catch(() => undefined);
    if (found?.isFile() === true) await rm(join(folder, entry));
  }
}
