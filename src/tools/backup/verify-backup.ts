import { BackupFileError } from './format/backup-file-error.js';
import type { BackupReader } from './format/backup-reader.js';
import type { BackupHeader, BackupSection, NotTaken } from './format/lines.js';

/** The objects of one kind in a backup. */
export interface KindCount {
  readonly section: BackupSection;
  readonly objects: number;
}

/** The content of a backup. */
export interface BackupSummary {
  readonly header: BackupHeader;
  readonly kinds: readonly KindCount[];
  readonly notTaken: readonly NotTaken[];
  /** Whether all of it was read and checked. */
  readonly isVerified: boolean;
  /** Whether there are sealed objects, which could not be read because there was no key. */
  readonly hasUnopened: boolean;
}

/**
 * Reports the content of a backup.
 *
 * @param whole whether to read and check all of it; otherwise only the file's own description
 * @throws BackupFileError for a file that can't be used
 */
export async function verifyBackup(
  reader: BackupReader,
  { signal, whole }: { readonly signal: AbortSignal; readonly whole: boolean },
): Promise<BackupSummary> {
  if (whole) for await (const _ of reader.all()) signal.throwIfAborted();
  const { counts, notTaken } = await reader.end();
  const sections = whole ? reader.sections : await reader.outline();
  if (sections.length !== counts.length) {
    throw new BackupFileError('is damaged: it does not have as many kinds as its last record says');
  }
  return {
    header: reader.header,
    kinds: sections.map((section, i) => ({ section, objects: counts[i] ?? 0 })),
    notTaken,
    isVerified: whole,
    hasUnopened: whole && !reader.isUnlocked && sections.some(({ sealed }) => sealed),
  };
}
