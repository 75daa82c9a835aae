import { renameSync, writeFileSync } from 'node:fs';

/** Replaces a file atomically, so that a process that watches it never reads half of it. */
export function replaceFile(path: string, content: string | Buffer, mode = 0o600): void {
  writeFileSync(`${path}.new`, content, { mode });
  renameSync(`${path}.new`, path);
}
