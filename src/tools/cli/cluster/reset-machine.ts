import { existsSync } from 'node:fs';
import type { Logger } from '../../../base/observability/logger.js';
import { type DirectoryLock, lockDirectory } from '../../local-postgres/directory-lock.js';
import { nodeFolder } from './config-folder.js';
import type { MadeHere } from './made-here.js';
import { Systemd } from './systemd.js';

/**
 * Stops the units that `plinth init` and `plinth join` started on this machine, and removes the files that they made.
 *
 * @returns what stays, with the reason
 * @throws StartupError while one of the commands runs, or when the service manager refuses
 */
export async function resetMachine(made: MadeHere, logger: Logger): Promise<readonly string[]> {
  const locks: DirectoryLock[] = [];
  let left: readonly string[];
  try {
    for (const folder of [made.directory, nodeFolder(made.directory)]) {
      if (existsSync(folder)) locks.push(await lockDirectory(folder, '--config-dir'));
    }
    const { units } = await made.things();
    const systemd = new Systemd(made, logger);
    await systemd.end(units);
    left = await made.remove();
    if (units.length > 0) await systemd.forget();
  } finally {
    for (const lock of locks) await lock.release();
  }
  // The locks were the last files.
  await made.removeFolders(left.length > 0);
  return left;
}
