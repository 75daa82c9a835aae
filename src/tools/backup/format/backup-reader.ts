import { createHash, timingSafeEqual } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { BackupFileError } from './backup-file-error.js';
import { type Block, BlockReader, blockBytes } from './blocks.js';
import { type BackupEnd, type BackupHeader, type BackupSection, mostLineBytes } from './lines.js';
import { isControlLine, readControlLine, readEnd, readHeader, readObject, readSection } from './read-lines.js';
import { mostSealedBytes, Seal } from './seal.js';

const newline = 0x0a;
/** The most sections, which is more kinds than any cluster has. */
const mostSections = 20_000;

/** A section of an open file, and what reading it showed. */
export interface FoundSection extends BackupSection {
  /** Number of the section, from 0. */
  readonly index: number;
  /** Where the section begins in the file. */
  readonly offset: number;
  /** How many objects were read; 0 for a sealed one without a key. */
  count: number;
}

/** An object, and the section that contains it. */
export interface FoundObject {
  readonly section: FoundSection;
  readonly object: ApiObject;
}

/** Reads one backup file. Every fault of the file is a {@link BackupFileError}. */
export class BackupReader {
  private found: readonly FoundSection[] | undefined;
  private seal: Seal | undefined;

  private constructor(
    private readonly file: FileHandle,
    private readonly blocks: BlockReader,
    private readonly headerLine: Buffer,
    readonly header: BackupHeader,
  ) {}

  /** @throws BackupFileError, or the error of the file system */
  static async open(path: string): Promise<BackupReader> {
    // Opening a pipe would wait for somebody who writes.
    if (!(await stat(path)).isFile()) throw new BackupFileError('is not a file');
    const file = await open(path, 'r');
    try {
      const blocks = await BlockReader.of(file);
      const { data } = await blocks.at(0, false);
      const end = data.indexOf(newline);
      const line = Buffer.from(data.subarray(0, end < 0 ? data.length : end));
      return new BackupReader(file, blocks, line, readHeader(line));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.file.close();
  }

  /**
   * Takes the passphrase or key for the sealed objects. It is tried when they are read.
   *
   * @throws BackupFileError when the file has nothing that is sealed: it is not the one that was made with the key
   */
  async unlock(secret: Buffer): Promise<void> {
    const { sealing } = this.header;
    if (sealing === undefined) {
      throw new BackupFileError('was made without a passphrase or key, but one was given: it may have been exchanged');
    }
    this.seal = await Seal.of(secret, sealing, this.headerLine);
  }

  /** Whether sealed objects can be read. */
  get isUnlocked(): boolean {
    return this.seal !== undefined;
  }

  /** The sections; complete once {@link all} has finished. */
  get sections(): readonly FoundSection[] {
    if (this.found === undefined) throw new Error('the file was not read yet');
    return this.found;
  }

  /** The file's last block, which describes the file; the rest is not checked. */
  async end(): Promise<BackupEnd> {
    const { data } = await this.blocks.at(await this.blocks.lastOffset(), false);
    return endOf(data);
  }

  /** The sections as their lines describe them, without reading their objects. */
  async outline(): Promise<readonly BackupSection[]> {
    const sections: BackupSection[] = [];
    const last = await this.blocks.lastOffset();
    for (let offset = 0; offset < last; ) {
      const { data, end } = await this.blocks.at(offset, false);
      const line = data.subarray(0, Math.max(0, data.indexOf(newline)));
      if (line.subarray(0, sectionStart.length).equals(sectionStart)) {
        sections.push(readSection(readControlLine(line)[1]));
        if (sections.length > mostSections) throw tooManySections();
      }
      offset = end;
    }
    return sections;
  }

  /**
   * Reads and checks everything: blocks, checksums, lines, objects, numbers, and with a key that the file is the one
   * that was written with it. Only when the iteration has finished is the file known to be whole. Objects that are
   * sealed are left out without a key.
   */
  async *all(): AsyncGenerator<FoundObject> {
    const digest = createHash('sha256');
    const sections: FoundSection[] = [];
    let last: Block | undefined;
    let reading: SectionReading | undefined;
    let isFirst = true;
    let wasFull = true;
    const lines = new Lines();
    for await (const block of this.blocks.all(digest)) {
      last = block;
      if (block.end === this.blocks.size) break;
      let isStart = !lines.hasRest;
      // Each block costs memory, so every block but the last one of a section must be full.
      const isSection = block.data.subarray(0, sectionStart.length).equals(sectionStart);
      if (!wasFull && !isSection) throw new BackupFileError('is damaged: a block is not full');
      wasFull = block.data.length === blockBytes;
      for (const line of lines.of(block.data)) {
        if (isFirst) {
          isFirst = false;
          if (!line.equals(this.headerLine)) throw new BackupFileError('was changed while it was read');
        } else if (line.subarray(0, sectionStart.length).equals(sectionStart)) {
          if (!isStart) throw new BackupFileError('is damaged: a section begins within a block');
          reading?.finish();
          const section = readSection(readControlLine(line)[1]);
          const found: FoundSection = { ...section, index: sections.length, offset: block.offset, count: 0 };
          sections.push(found);
          if (sections.length > mostSections) throw tooManySections();
          if (section.sealed && this.header.sealing === undefined) throw unexpectedLine();
          reading = new SectionReading(found, this.seal);
        } else {
          if (reading === undefined) throw unexpectedLine();
          yield* reading.objects(line);
        }
        isStart = false;
      }
    }
    if (lines.hasRest || last === undefined || isFirst) throw cutOff();
    reading?.finish();
    this.check(endOf(last.data), digest.digest('hex'), sections);
    this.found = sections;
  }

  /** Reads the objects of a section again. The file must be the same that {@link all} has read. */
  async *objectsOf(section: FoundSection): AsyncGenerator<ApiObject> {
    const again = { ...section, count: 0 };
    const reading = new SectionReading(again, this.seal);
    const lines = new Lines();
    let isFirst = true;
    for (let offset = section.offset; ; ) {
      const block = await this.blocks.at(offset);
      if (block.end === this.blocks.size) return;
      let isStart = !lines.hasRest;
      for (const line of lines.of(block.data)) {
        const isSection = isStart && line.subarray(0, sectionStart.length).equals(sectionStart);
        isStart = false;
        if (isFirst) isFirst = false;
        else if (isSection) return;
        else for await (const { object } of reading.objects(line)) yield object;
      }
      offset = block.end;
    }
  }

  private check(end: BackupEnd, sha256: string, sections: readonly FoundSection[]): void {
    if (end.sha256 !== sha256)
      throw new BackupFileError('is damaged: it does not have the checksum that its last record says');
    const isSame = ({ sealed, count }: FoundSection, i: number) =>
      (sealed && !this.isUnlocked) || count === end.counts[i];
    if (end.counts.length !== sections.length || !sections.every(isSame)) {
      throw new BackupFileError('is damaged: it does not have as many objects as its last record says');
    }
    if ((end.mac === undefined) !== (this.header.sealing === undefined)) throw cutOff();
    if (this.seal === undefined || end.mac === undefined) return;
    const { mac, ...signed } = end;
    const expected = Buffer.from(this.seal.mac(sha256, JSON.stringify(signed)), 'base64');
    const given = Buffer.from(mac, 'base64');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
      throw new BackupFileError('was not written with this key or passphrase, or was changed afterwards');
    }
  }
}

const sectionStart = Buffer.from('["section",');

/** Reads the lines of one section. */
class SectionReading {
  private pieces = 0;
  private isClosed: boolean;

  constructor(
    private readonly section: FoundSection,
    private readonly seal: Seal | undefined,
  ) {
    this.isClosed = !section.sealed;
  }

  async *objects(line: Buffer): AsyncGenerator<FoundObject> {
    for (const text of this.section.sealed ? await this.opened(line) : [line]) {
      if (isControlLine(text)) throw unexpectedLine();
      const object = readObject(text, this.section);
      this.section.count += 1;
      yield { section: this.section, object };
    }
  }

  /** @throws BackupFileError when the section has not come to its end */
  finish(): void {
    if (!this.isClosed) throw cutOff();
  }

  private async opened(line: Buffer): Promise<readonly Buffer[]> {
    const [purpose, isLast, text] = isControlLine(line) ? readControlLine(line) : [];
    if (this.isClosed || purpose !== 'sealed' || typeof isLast !== 'boolean' || typeof text !== 'string') {
      throw unexpectedLine();
    }
    this.isClosed = isLast;
    const place = { section: this.section.index, piece: this.pieces++, isLast };
    if (this.seal === undefined) return [];
    const data = await this.seal.open(Buffer.from(text, 'base64'), place);
    const lines = new Lines(mostSealedBytes);
    const found = [...lines.of(data)];
    if (lines.hasRest) throw cutOff();
    return found;
  }
}

/** Splits the data of blocks into lines, which may continue in the next block. */
class Lines {
  private rest: Buffer[] = [];
  private restSize = 0;

  constructor(private readonly most = mostLineBytes) {}

  /** Whether the last line is incomplete. */
  get hasRest(): boolean {
    return this.restSize > 0;
  }

  *of(data: Buffer): Generator<Buffer> {
    let start = 0;
    for (let end = data.indexOf(newline); end >= 0; end = data.indexOf(newline, start)) {
      const part = data.subarray(start, end);
      yield this.restSize === 0 ? part : Buffer.concat([...this.rest, part]);
      this.rest = [];
      this.restSize = 0;
      start = end + 1;
    }
    if (start === data.length) return;
    this.rest.push(data.subarray(start));
    this.restSize += data.length - start;
    if (this.restSize > this.most) throw new BackupFileError('is damaged: a line is longer than any line can be');
  }
}

function endOf(data: Buffer): BackupEnd {
  const end = data.indexOf(newline);
  if (end < 0 || end !== data.length - 1) throw cutOff();
  return readEnd(data.subarray(0, end));
}

function cutOff(): BackupFileError {
  return new BackupFileError('is cut off or damaged: it has no end');
}

function unexpectedLine(): BackupFileError {
  return new BackupFileError("is damaged: a line stands where it can't");
}

function tooManySections(): BackupFileError {
  return new BackupFileError('is damaged: it has more kinds than any cluster');
}
