import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  futimesSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';
import type { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { withEngineDefaults } from './engine-phases.js';

/**
 * A process that used less CPU time than this, in milliseconds, may not have called all functions that its work needs.
 */
const enoughWorkMs = 60_000;
/** A process writes the code again if it used this many times the CPU time of the last writer, plus a second. */
const worthTimes = 2;
/** Files of other builds, commands or versions of Node that are kept beside the newest one: the most recently used. */
const mostFiles = 24;
const suffix = '.plinth-code';
/** The head of a file: the checksum of the rest, and the CPU time of the process that wrote it, in milliseconds. */
const headBytes = 8;

/** The code to keep. */
export interface KeptCodeOf {
  readonly folder: string;
  readonly file: string;
  /**
   * The content of the script. Another build may have the same time and length, and the engine compares only the
   * length.
   */
  readonly bytes: Uint8Array;
  readonly name: string;
}

/**
 * A cache of the compiled code of a file, with all functions that had been called when it was written: by the first
 * process that exits, and again by one that worked clearly more, as long as none has worked for a minute. Work is
 * measured in CPU time: a server that was up for hours without requests has only the code of a start. Code that is
 * written again includes the code cached before. A damaged file, or one of another build, version of Node or set of
 * engine flags, counts as missing. Errors of the cache never make a start fail.
 */
export class KeptCode {
  /** How much CPU time a process must use to write better code than the existing one, in milliseconds. */
  private readonly worthMs: number;

  private constructor(
    private readonly path: string,
    private readonly tag: number,
    /** The cached code; undefined if there is none. */
    readonly data: Buffer<ArrayBuffer> | undefined,
    workedMs: number,
  ) {
    if (data === undefined) this.worthMs = 0;
    else this.worthMs = workedMs < enoughWorkMs ? 1_000 + worthTimes * workedMs : Infinity;
  }

  /**
   * Opens the cache. Undefined where code can't be stored, or where other users could write it: they could make the
   * program do anything.
   */
  static open({ folder, file, bytes, name }: KeptCodeOf): KeptCode | undefined {
    try {
      if (!isPrivate(folder)) return undefined;
      const tag = cachedDataVersionTag();
      const source = `${file} ${bytes.length} ${crc32(bytes)}`;
      const key = createHash('sha256').update(`${source} ${name} ${tag}`).digest('hex').slice(0, 16);
      const path = join(folder, `${key}${suffix}`);
      const written = readIfThere(path);
      return new KeptCode(path, tag, written?.data, written?.workedMs ?? 0);
    } catch {
      return undefined;
    }
  }

  /** Frees the memory of the cached code, which the engine has read by then; idle processes would keep it for hours. */
  release(): void {
    if (this.data !== undefined && this.data.buffer.byteLength === this.data.length + headBytes)
      this.data.buffer.transfer(0);
  }

  /**
   * Writes the script's code when the process exits, if that is worth it.
   *
   * @param afterMs a process that lives long writes the code after this time already: from then on, the engine may drop the
   * code of functions that are no longer called, which saves memory
   */
  keepFrom(script: Script, afterMs?: number): void {
    const isRefused = script.cachedDataRejected === true;
    const worthMs = isRefused ? 0 : this.worthMs;
    if (worthMs === Infinity) return;
    // Otherwise the engine drops the code of functions that were not called for a while, such as all of the start.
    setFlagsFromString('--no-flush-bytecode');
    const finish = () => {
      process.removeListener('exit', finish);
      setFlagsFromString('--flush-bytecode');
      withEngineDefaults(() => {
        if (workedMs() >= worthMs && cachedDataVersionTag() === this.tag) this.write(script);
      });
    };
    process.on('exit', finish);
    if (afterMs !== undefined) setTimeout(finish, afterMs).unref();
  }

  private write(script: Script): void {
    const temporary = `${this.path}.${process.pid}`;
    try {
      const data = script.createCachedData();
      const head = Buffer.alloc(headBytes);
      head.writeUInt32LE(Math.min(workedMs(), 0xffff_ffff), 4);
      head.writeUInt32LE(crc32(data, crc32(head.subarray(4))), 0);
      writeFileSync(temporary, Buffer.concat([head, data]), { mode: 0o600, flag: 'wx' });
      renameSync(temporary, this.path);
      removeOldest(dirname(this.path));
    } catch {
      // The disk is read-only or full.
      rmSync(temporary, { force: true });
    }
  }
}

/** CPU time that this process has used, all threads together. */
function workedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function readIfThere(path: string): { readonly data: Buffer<ArrayBuffer>; readonly workedMs: number } | undefined {
  let bytes: Buffer<ArrayBuffer> | undefined;
  try {
    bytes = readOwn(path);
  } catch {
    return undefined;
  }
  if (bytes === undefined || bytes.length <= headBytes || crc32(bytes.subarray(4)) !== bytes.readUInt32LE(0))
    return undefined;
  return { data: bytes.subarray(headBytes), workedMs: bytes.readUInt32LE(4) };
}

/**
 * Reads the file. Undefined if other users may have written it: they may have had access to the folder before, or reach
 * the file by another path.
 */
function readOwn(path: string): Buffer<ArrayBuffer> | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  // Windows has neither of these flags, and no pipes in folders.
  const file = openSync(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(file);
    if (!found.isFile() || !isOurs(found)) return undefined;
    const now = new Date();
    futimesSync(file, now, now);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function isOurs({ uid, mode }: Stats): boolean {
  const user = process.getuid?.();
  return user === undefined || (uid === user && (mode & 0o022) === 0);
}

function removeOldest(folder: string): void {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(suffix))
    .map((name) => ({ path: join(folder, name), at: statSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at);
  for (const { path } of files.slice(mostFiles)) rmSync(path, { force: true });
}

/**
 * Whether only this user can write to the folder. Node makes the folder, with the bits that the user's mask leaves;
 * they do not matter where nobody else can enter the parent folder. Windows keeps folders of users private.
 */
function isPrivate(folder: string): boolean {
  const user = process.getuid?.();
  if (user === undefined) return true;
  const [found, above] = [lstatSync(folder), lstatSync(dirname(folder))];
  if (!found.isDirectory() || found.uid !== user) return false;
  return (found.mode & 0o022) === 0 || (above.uid === user && (above.mode & 0o077) === 0);
}
