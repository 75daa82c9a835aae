import { createHash } from 'node:crypto';
import { lstat, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type FileOwner, readFileIfPresent, writeFileAtomically } from '../../base/machinery/files.js';
import { makeFolder } from '../../base/machinery/make-folder.js';
import { StartupError } from '../../base/machinery/startup-error.js';
import { removeUnfinished } from './unfinished-files.js';

const recordName = '.made-by-plinth.json';

/**
 * Digests of the contents that we wrote, by file name. There are two while a file is being replaced: after a crash it
 * may hold either.
 */
type Digests = Readonly<Record<string, readonly string[]>>;

/**
 * Distinguishes the files that we made in a folder from those that others put there: a record has the digests of what
 * we wrote. A file with any other content is foreign, and never overwritten.
 */
export class OwnFiles {
  /** @param recordFile where the record is kept; default: a hidden file in the folder */
  constructor(
    readonly directory: string,
    private readonly recordFile = join(directory, recordName),
  ) {}

  path(name: string): string {
    return join(this.directory, name);
  }

  /** The content of a file; undefined when it does not exist. */
  read(name: string): Promise<string | undefined> {
    return readFileIfPresent(this.path(name));
  }

  /** Whether a file may be replaced: it is missing, or it is exactly as we wrote it. */
  async mayWrite(name: string): Promise<boolean> {
    const text = await this.read(name);
    return text === undefined || ((await this.record())[name] ?? []).includes(digestOf(text));
  }

  /** @throws StartupError when the file is foreign. */
  async write(name: string, text: string, mode: number, owner?: FileOwner): Promise<void> {
    if (!(await this.mayWrite(name))) throw new StartupError(`${this.path(name)} was not made by plinth: ${advice}`);
    makeFolder(this.directory, 0o700);
    const record = await this.record();
    const before = await this.read(name);
    const digests = [digestOf(text), ...(before === undefined ? [] : [digestOf(before)])];
    const next: Digests = { ...record, [name]: [...new Set(digests)] };
    // The record is written before the file: a crash between the two must not make our own file a foreign one.
    await this.keep(next);
    await writeFileAtomically(this.path(name), text, mode, owner);
  }

  /** Like {@link write}, for an existing file, which keeps its mode and its owner. */
  async rewrite(name: string, text: string): Promise<void> {
    const { mode, uid, gid } = await stat(this.path(name));
    await this.write(name, text, mode & 0o777, { uid, gid });
  }

  /** The names of all files that we have written and not removed. */
  async names(): Promise<string[]> {
    return Object.keys(await this.record());
  }

  /**
   * Removes a file that is exactly as we wrote it. Links are not followed: neither in place of the file nor of its folder.
   *
   * @returns why the file stays; undefined when it is gone
   */
  async remove(name: string): Promise<string | undefined> {
    const path = this.path(name);
    const found = await lstat(path).catch(() => undefined);
    if (found !== undefined) {
      if (!found.isFile()) return 'it is not a file any more';
      if ((await realpath(dirname(path))) !== dirname(path)) return 'its folder is a link';
      if (!(await this.mayWrite(name))) return 'somebody changed it';
      await rm(path);
    }
    await removeUnfinished(path);
    const { [name]: _removed, ...rest } = await this.record();
    if (Object.keys(rest).length > 0) await this.keep(rest);
    else {
      await rm(this.recordFile, { force: true });
      await removeUnfinished(this.recordFile);
    }
    return undefined;
  }

  private keep(record: Digests): Promise<void> {
    return writeFileAtomically(this.recordFile, `${JSON.stringify(record, undefined, 2)}\n`, 0o600);
  }

  /** A record that can't be read makes every file foreign. */
  private async record(): Promise<Digests> {
    const text = await readFileIfPresent(this.recordFile);
    try {
      const value: unknown = JSON.parse(text ?? '{}');
      const entries = Object.entries(value as object).filter(([, digests]) => Array.isArray(digests));
      return Object.fromEntries(entries) as Digests;
    } catch {
      return {};
    }
  }
}

/** Brings a file up to date for the user. A file that the user changed is left alone, with a warning. */
export async function keepFile(
  files: OwnFiles,
  name: string,
  text: string,
  logger: { warn(message: string, fields?: object): void },
  mode = 0o600,
): Promise<void> {
  if ((await files.read(name)) === text) return;
  if (await files.mayWrite(name)) await files.write(name, text, mode);
  else {
    logger.warn('a file is left unchanged, because somebody else made or changed it; remove it to get a new one', {
      file: files.path(name),
    });
  }
}

/** Advice for a foreign file that can't be used. */
export const advice = 'remove it, or name your own files by flags';

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
