import { execFile } from 'node:child_process';
import { promises as fs } from 'node:fs';
import { promisify } from 'node:util';

/**
 * Removes a folder with everything below it, or nothing if it does not exist. Follows no link, and does not leave the file
 * system of the folder.
 *
 * @throws Error for what can't be removed
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await fs.rm(path, { recursive: true, force: true });
  } catch {
    // Containers can nest folders so deeply that the kernel takes no path to them; `rm` goes down step by step.
    await promisify(execFile)('rm', ['-rf', '--one-file-system', '--', path]);
  }
}
