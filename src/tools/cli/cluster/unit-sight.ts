import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StartupError } from '../../../base/machinery/startup-error.js';

/** Folders that units have for themselves (`PrivateTmp`). */
const privateFolders = ['/tmp', '/var/tmp'];

/**
 * Checks that the units of servers will find files: they see no temporary folders of the machine, and their root has
 * no right to pass the modes of others' files. What does not exist yet is not checked.
 *
 * @param paths absolute paths
 * @param passesModes whether the units have the right to read all files
 * @param hiddenFolders those that the units have for themselves
 * @throws StartupError that names the file and what helps
 */
export async function checkUnitsSee(
  paths: readonly string[],
  passesModes: boolean,
  hiddenFolders: readonly string[] = privateFolders,
): Promise<void> {
  for (const path of paths) {
    const real = await realpath(path).catch(() => path);
    const hidden = hiddenFolders.find((folder) => [path, real].some((each) => each.startsWith(`${folder}/`)));
    if (hidden !== undefined) {
      throw new StartupError(
        `units of systemd do not see ${path}, since they have a ${hidden} of their own: put it into another folder, or use --foreground`,
      );
    }
    const closed = passesModes ? undefined : await closedPart(real);
    if (closed !== undefined) {
      throw new StartupError(
        `units of systemd may not read ${path}, since ${closed} belongs to another user and is closed to all others: put it into another folder, or use --foreground`,
      );
    }
  }
}

/** The part of a path at which root without capabilities ends; undefined: it reads the file. */
async function closedPart(path: string): Promise<string | undefined> {
  const parts: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    parts.unshift(at);
    if (at === dirname(at)) break;
  }
  for (const part of parts) {
    const found = await stat(part).catch(() => undefined);
    if (found === undefined) return undefined;
    const needed = found.isDirectory() ? 0o1 : 0o4;
    const { uid, gid, mode } = found;
    const granted = uid === 0 ? mode >> 6 : gid === 0 ? mode >> 3 : mode;
    if ((granted & needed) === 0) return part;
  }
  return undefined;
}

/** The absolute paths among the words of a command, and as values of its flags. */
export function pathsIn(command: readonly string[]): string[] {
  return command.map((word) => word.replace(/^--[\w-]+=/, '')).filter((word) => word.startsWith('/'));
}
