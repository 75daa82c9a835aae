import { renameSync, writeFileSync } from 'node:fs';

/** Writes a file whole or not at all, as careful tools do: a process that watches it never reads half of it. */
export function replaceFile(path: string, content: string | Buffer, mode = 0o600): void {
  writeFileSync(`${path}.new`, content, { mode });
  renameSync(`${path}.new`, path);
}
