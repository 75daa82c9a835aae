import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../base/machinery/clock.js';
import { fileProblem } from '../../base/machinery/file-problem.js';
import { refuseOtherThanFile } from '../../base/machinery/files.js';
import { errorCode, StartupError } from '../../base/machinery/startup-error.js';
import type { ClusterClient } from './cluster/cluster-client.js';
import { type DumpSelection, type DumpSink, dump } from './cluster/dump.js';
import { meansKind } from './cluster/kind-selection.js';
import type { ServedKind } from './cluster/served-kind.js';
import { BackupReader } from './format/backup-reader.js';
import { BackupWriter } from './format/backup-writer.js';
import type { BackupHeader } from './format/lines.js';
import { newSealing } from './format/seal.js';
import { type BackupSummary, verifyBackup } from './verify-backup.js';

export interface BackupDependencies {
  readonly client: ClusterClient;
  readonly selection: DumpSelection;
  /** The file to write. It appears only when it is complete. */
  readonly path: string;
  /** Passphrase or key. Without it nothing is sealed. */
  readonly secret: Buffer | undefined;
  /** Kinds to seal, named as for the selection; `*` for all. */
  readonly sealedKinds: readonly string[];
  /** Whether to read the file and check it before it gets its name. */
  readonly verify: boolean;
  /** The name and version of the program that writes the backup. */
  readonly program: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly warn: (line: string) => void;
  /** Receives each object. */
  readonly onObject: (kind: ServedKind) => void;
}

/**
 * Writes the objects of a cluster at one version to a file that only its owner may read. An existing file is replaced
 * once the new one is complete, and stays unchanged otherwise.
 *
 * @throws StartupError for faults that the user can fix
 */
export async function makeBackup(dependencies: BackupDependencies): Promise<BackupSummary> {
  const temporary = `${dependencies.path}.${process.pid}.part`;
  let file: FileHandle;
  try {
    await refuseOtherThanFile(dependencies.path);
    await rm(temporary, { force: true });
    // Appends even after the file was emptied.
    file = await open(temporary, 'ax', 0o600);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`${dependencies.path} can't be written: ${fileProblem(error)}`, { cause: error });
  }
  try {
    await write(file, dependencies);
    const summary = await summaryOf(temporary, dependencies);
    await rename(temporary, dependencies.path);
    await syncFolder(dirname(dependencies.path));
    return summary;
  } catch (error) {
    await rm(temporary, { force: true });
    if (isOfDisk(error)) throw new StartupError(`${dependencies.path}: ${fileProblem(error)}`, { cause: error });
    throw error;
  }
}

async function write(file: FileHandle, dependencies: BackupDependencies): Promise<void> {
  const { client, selection, secret, sealedKinds, program, clock, signal, warn, onObject } = dependencies;
  try {
    let writer = new BackupWriter(file);
    let present: ServedKind | undefined;
    const sink: DumpSink = {
      begin: async ({ resourceVersion, serverVersion }) => {
        await writer.settle();
        await file.truncate(0);
        writer = new BackupWriter(file);
        const header: BackupHeader = {
          createdAt: new Date(clock.now()).toISOString(),
          program,
          serverVersion,
          resourceVersion,
          namespaces: selection.namespaces,
          ...(secret === undefined ? {} : { sealing: newSealing() }),
        };
        await writer.begin(header, secret);
      },
      kind: async (kind) => {
        present = kind;
        const { apiVersion, resource, namespaced, hasStatus } = kind;
        const sealed = secret !== undefined && sealedKinds.some((name) => name === '*' || meansKind(name, kind));
        await writer.beginSection({ apiVersion, kind: kind.kind, resource, namespaced, hasStatus, sealed });
      },
      object: async (object) => {
        await writer.object(object);
        if (present !== undefined) onObject(present);
      },
    };
    const notTaken = await dump({ client, selection, sink, signal, warn });
    await writer.end(notTaken);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The summary of the new file: read from it, as a whole or only from its ends. */
async function summaryOf(path: string, { secret, verify, signal }: BackupDependencies): Promise<BackupSummary> {
  const reader = await BackupReader.open(path);
  try {
    if (verify && secret !== undefined) await reader.unlock(secret);
    return await verifyBackup(reader, { signal, whole: verify });
  } finally {
    await reader.close();
  }
}

/** Makes the new name outlast a crash. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function isOfDisk(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'EPERM', 'EISDIR'].includes(errorCode(error) ?? '');
}
