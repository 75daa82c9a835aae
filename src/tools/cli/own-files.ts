import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../../base/machinery/files.js';
import { makeFolder } from '../../base/machinery/make-folder.js';
import { StartupError } from '../../base/machinery/startup-error.js';

const recordName = '.made-by-plinth.json';

/**
 * Digests of the texts we wrote, by file name. There are two while a file is being replaced: after a crash it may hold
 * either.
 */
type Digests = Readonly<Record<string, readonly string[]>>;

/**
 * Tells the files that we made in a folder from those that others put there: a record has the digests of what we wrote.
 * A file with any other content is foreign, and never overwritten.
 */
export class OwnFiles {
  constructor(readonly directory: string) {}

  path(name: string): string {
    return join(this.directory, name);
  }

  /** The text of a file; undefined when it does not exist. */
  read(name: string): Promise<string | undefined> {
    return readFileIfPresent(this.path(name));
  }

  /** Whether a file may be replaced: it is missing, or it is exactly as we wrote it. */
  async mayWrite(name: string): Promise<boolean> {
    const text = await this.read(name);
    return text === undefined || ((await this.record())[name] ?? []).includes(digestOf(text));
  }

  /** @throws StartupError when the file is foreign. */
  async write(name: string, text: string, mode: number): Promise<void> {
    if (!(await this.mayWrite(name))) throw new StartupError(`${this.path(name)} was not made by plinth: ${advice}`);
    makeFolder(this.directory, 0o700);
    const record = await this.record();
    const before = await this.read(name);
    const digests = [digestOf(text), ...(before === undefined ? [] : [digestOf(before)])];
    const next: Digests = { ...record, [name]: [...new Set(digests)] };
    // The record is written before the file: a crash between the two must not make our own file a foreign one.
    await writeFileAtomically(this.path(recordName), `${JSON.stringify(next, undefined, 2)}\n`, 0o600);
    await writeFileAtomically(this.path(name), text, mode);
  }

  /** A record that can't be read makes every file foreign. */
  private async record(): Promise<Digests> {
    const text = await this.read(recordName);
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
): Promise<void> {
  if ((await files.read(name)) === text) return;
  if (await files.mayWrite(name)) await files.write(name, text, 0o600);
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
