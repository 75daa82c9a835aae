import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The version of this program, from its package file. */
export async function readVersion(): Promise<string> {
  // Compiled code is at another depth than its source, so search upwards.
  for (let directory = import.meta.dirname; directory !== dirname(directory); directory = dirname(directory)) {
    const text = await readFile(join(directory, 'package.json'), 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const { name, version } = JSON.parse(text) as { name?: unknown; version?: unknown };
    if (name === 'plinth' && typeof version === 'string') return version;
  }
  return 'unknown';
}
