import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackupReader } from './format/backup-reader.js';
import { type BackupDependencies, makeBackup } from './make-backup.js';

/**
 * Reads a cluster into a backup that nobody else can read: all of it is sealed with a key that is only in memory, and
 * the file is already unlinked when this returns.
 */
export async function copyCluster(
  dependencies: Omit<BackupDependencies, 'path' | 'secret' | 'sealedKinds' | 'verify'>,
): Promise<BackupReader> {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-import-'));
  try {
    const path = join(folder, 'backup');
    const secret = randomBytes(32);
    await makeBackup({ ...dependencies, path, secret, sealedKinds: ['*'], verify: false });
    const reader = await BackupReader.open(path);
    await reader.unlock(secret);
    return reader;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
