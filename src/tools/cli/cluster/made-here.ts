import { lstat, readdir, realpath, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../../../base/machinery/files.js';
import { makeFolder } from '../../../base/machinery/make-folder.js';
import { errorCode } from '../../../base/machinery/startup-error.js';
import { lockName } from '../../local-postgres/directory-lock.js';
import { OwnFiles } from '../own-files.js';
import { removeUnfinished } from '../unfinished-files.js';

/** Things other than files: names of units of the service manager, and absolute paths of folders. */
interface Things {
  readonly units: readonly string[];
  readonly folders: readonly string[];
  /** Folders of certificates, which keep a record of their own. */
  readonly certificateFolders: readonly string[];
  /** Folders whose whole content is ours. */
  readonly trees: readonly string[];
}

const nothing: Things = { units: [], folders: [], certificateFolders: [], trees: [] };
const recordName = '.made-here.json';
const filesName = '.made-files.json';

/**
 * What `plinth init` and `plinth join` made on this machine, so that `plinth reset` can remove it, and only that. Everything is
 * recorded before it is made: after a kill nothing is forgotten.
 */
export class MadeHere {
  /** Files by their absolute paths. */
  readonly files: OwnFiles;

  private constructor(
    /** The folder of the settings, without links in its path. */
    readonly directory: string,
  ) {
    this.files = new OwnFiles('/', join(directory, filesName));
  }

  /** Opens the record in a folder, which is made if need be. */
  static async open(directory: string): Promise<MadeHere> {
    const isNew = makeFolder(directory, 0o700);
    const made = new MadeHere(await realpath(directory));
    if (isNew) await made.note('folders', made.directory);
    return made;
  }

  /** Opens the record in a folder if it is there. */
  static async openPresent(directory: string): Promise<MadeHere | undefined> {
    const path = await realpath(directory).catch(() => undefined);
    return path === undefined ? undefined : new MadeHere(path);
  }

  /** Makes a folder inside, readable by its owner only. One that was there already stays when everything is removed. */
  async folder(path: string, mode = 0o700): Promise<string> {
    if ((await lstat(path).catch(() => undefined)) !== undefined) return path;
    await this.note('folders', path);
    makeFolder(path, mode);
    return path;
  }

  /**
   * Records that all files at a path belong to this program, unless the path exists already. Must be called before the
   * path is created.
   */
  async tree(path: string): Promise<void> {
    if ((await lstat(path).catch(() => undefined)) === undefined) await this.note('trees', path);
  }

  /** Records a thing. Must be called before the thing is made. */
  async note(kind: keyof Things, what: string): Promise<void> {
    const things = await this.things();
    if (things[kind].includes(what)) return;
    const next = { ...things, [kind]: [...things[kind], what] };
    await writeFileAtomically(this.recordFile, `${JSON.stringify(next, undefined, 2)}\n`, 0o600);
  }

  async things(): Promise<Things> {
    try {
      return { ...nothing, ...(JSON.parse((await readFileIfPresent(this.recordFile)) ?? '{}') as Partial<Things>) };
    } catch {
      return nothing;
    }
  }

  /**
   * Removes files and folders that were made here. Links are never followed.
   *
   * @returns what stays, with the reason
   */
  async remove(): Promise<readonly string[]> {
    const left: string[] = [];
    const things = await this.things();
    for (const path of things.trees) {
      if (await leadsAway(path)) left.push(`${path}: its folder is a link`);
      else await rm(path, { recursive: true, force: true });
    }
    const own = things.certificateFolders.map((folder) => new OwnFiles(folder));
    for (const files of [...own, this.files]) {
      for (const name of await files.names()) {
        const reason = await files.remove(name);
        if (reason !== undefined) left.push(`${files.path(name)}: ${reason}`);
      }
    }
    return left;
  }

  /**
   * Removes the folders that are empty, and the record.
   *
   * @param keepsRecord whether something that was made here is left, so that the record is kept beside other files
   */
  async removeFolders(keepsRecord: boolean): Promise<void> {
    const { folders } = await this.things();
    // The innermost first.
    const inner = folders.filter((path) => path !== this.directory).sort((a, b) => b.length - a.length);
    for (const path of inner) await removeEmpty(path);
    await removeUnfinished(this.recordFile);
    await removeUnfinished(join(this.directory, lockName));
    const rest = (await readdir(this.directory)).filter((name) => name !== recordName);
    if (rest.length > 0 && keepsRecord) return;
    await rm(this.recordFile, { force: true });
    if (folders.includes(this.directory)) await removeEmpty(this.directory);
  }

  /** The list of things to remove, for a person to confirm. */
  async list(): Promise<readonly string[]> {
    const { units, certificateFolders, trees } = await this.things();
    const own = certificateFolders.map((folder) => new OwnFiles(folder));
    const files = await Promise.all([...own, this.files].map(async (of) => (await of.names()).map((n) => of.path(n))));
    return [...units, ...trees, ...files.flat().sort()];
  }

  private get recordFile(): string {
    return join(this.directory, recordName);
  }
}

/** Whether a link stands in the way to a path, or in its place. */
async function leadsAway(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return false;
  return found.isSymbolicLink() || (await realpath(dirname(path))) !== dirname(path);
}

/** A folder with anything else in it stays. */
async function removeEmpty(path: string): Promise<void> {
  await removeUnfinished(join(path, lockName));
  if ((await lstat(path).catch(() => undefined))?.isDirectory() !== true) return;
  if ((await readdir(path)).length > 0) return;
  await rmdir(path).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOTEMPTY') throw error;
  });
}
