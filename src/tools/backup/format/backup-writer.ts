import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { blockBytes, packBlock, packLastBlock } from './blocks.js';
import { type BackupEnd, type BackupHeader, type BackupSection, formatVersion, type NotTaken } from './lines.js';
import { Seal } from './seal.js';

/** How many blocks are packed at the same time. */
const mostPending = 3;
/** The most bytes of objects that are sealed together. */
const pieceBytes = 512 * 1024;
const newline = Buffer.from('\n');

/** Writes a backup from its beginning to its end, holding a few blocks of it. */
export class BackupWriter {
  private readonly digest = createHash('sha256');
  private readonly counts: number[] = [];
  private block: Buffer[] = [];
  private blockSize = 0;
  private pending = 0;
  private written: Promise<void> = Promise.resolve();
  private section: BackupSection | undefined;
  private seal: Seal | undefined;
  private sealedLines: Buffer[] = [];
  private sealedSize = 0;
  private sealedPieces = 0;

  /** @param file is open and empty */
  constructor(private readonly file: FileHandle) {}

  /** @param secret passphrase or key, if the header describes a sealed file */
  async begin(header: BackupHeader, secret: Buffer | undefined): Promise<void> {
    const line = Buffer.from(JSON.stringify(['plinth-backup', formatVersion, header]));
    if (header.sealing !== undefined && secret !== undefined) {
      this.seal = await Seal.of(secret, header.sealing, line);
    }
    await this.line(line);
  }

  /** Begins the objects of a kind, after those of the previous kind. */
  async beginSection(section: BackupSection): Promise<void> {
    await this.endSection();
    await this.flush();
    this.section = section;
    this.counts.push(0);
    this.sealedPieces = 0;
    await this.line(Buffer.from(JSON.stringify(['section', section])));
  }

  /** @param object JSON without line breaks */
  async object(object: Buffer): Promise<void> {
    this.counts[this.counts.length - 1] = (this.counts.at(-1) ?? 0) + 1;
    if (this.section?.sealed !== true) return this.line(object);
    if (this.sealedSize > 0 && this.sealedSize + object.length > pieceBytes) await this.sealPiece(false);
    this.sealedLines.push(object, newline);
    this.sealedSize += object.length + 1;
  }

  /** Resolves when nothing is being written any more: the file can be started again. */
  async settle(): Promise<void> {
    await this.written.catch(() => undefined);
  }

  /** Writes the end. The file is whole then, but not yet synchronised with the disk. */
  async end(notTaken: readonly NotTaken[]): Promise<void> {
    await this.endSection();
    await this.flush();
    await this.written;
    const end: BackupEnd = { counts: this.counts, notTaken, sha256: this.digest.digest('hex') };
    const mac = this.seal?.mac(end.sha256, JSON.stringify(end));
    const line = JSON.stringify(['end', mac === undefined ? end : { ...end, mac }]);
    const last = Buffer.from(`${line}\n`);
    if (last.length > blockBytes) throw new Error('the end of the backup is too long');
    await this.file.appendFile(packLastBlock(last));
  }

  private async endSection(): Promise<void> {
    if (this.section?.sealed === true) await this.sealPiece(true);
    this.section = undefined;
  }

  private async sealPiece(isLast: boolean): Promise<void> {
    if (this.seal === undefined) throw new Error('there is no key');
    const place = { section: this.counts.length - 1, piece: this.sealedPieces++, isLast };
    const sealed = await this.seal.seal(Buffer.concat(this.sealedLines), place);
    this.sealedLines = [];
    this.sealedSize = 0;
    await this.line(Buffer.from(JSON.stringify(['sealed', isLast, sealed.toString('base64')])));
  }

  private async line(text: Buffer): Promise<void> {
    for (let rest = Buffer.concat([text, newline]); rest.length > 0; ) {
      const part = rest.subarray(0, blockBytes - this.blockSize);
      this.block.push(part);
      this.blockSize += part.length;
      rest = rest.subarray(part.length);
      if (this.blockSize === blockBytes) await this.flush();
    }
  }

  /** Packs what was gathered. Waits while too many blocks are being packed. */
  private async flush(): Promise<void> {
    if (this.blockSize === 0) return;
    const packed = packBlock(Buffer.concat(this.block));
    this.block = [];
    this.blockSize = 0;
    this.pending += 1;
    this.written = this.written.then(async () => {
      const bytes = await packed;
      this.digest.update(bytes);
      await this.file.appendFile(bytes);
      this.pending -= 1;
    });
    // The error is thrown to the next caller that waits.
    this.written.catch(() => undefined);
    if (this.pending >= mostPending) await this.written;
  }
}
