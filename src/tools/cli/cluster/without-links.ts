import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** The path of something that need not be there, without links in the part that is there. */
export async function withoutLinks(path: string): Promise<string> {
  const full = resolve(path);
  const real = await realpath(full).catch(() => undefined);
  if (real !== undefined) return real;
  return dirname(full) === full ? full : join(await withoutLinks(dirname(full)), basename(full));
}
