import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { BackupFileError } from './backup-file-error.js';
import type { BackupSealing } from './lines.js';

const deflated = promisify(deflateRaw);
const inflated = promisify(inflateRaw);

/** The cost of each guess of a passphrase: 128 MiB and about half a second. */
const defaultCost = { N: 2 ** 17, r: 8, p: 1 } as const;
/** The limits of what a file may require, so that a hostile one uses up neither memory nor time. */
const costs: ReadonlySet<number> = new Set([2 ** 14, 2 ** 15, 2 ** 16, 2 ** 17, 2 ** 18]);
const saltBytes = 32;
const tagBytes = 16;

/** The most that one sealed piece holds, unpacked. */
export const mostSealedBytes = 64 * 1024 * 1024;

/** How the keys of a new file are derived; each file has a salt and therefore keys of its own. */
export function newSealing(): BackupSealing {
  return { kdf: 'scrypt', ...defaultCost, salt: randomBytes(saltBytes).toString('base64'), cipher: 'AES-256-GCM' };
}

/** Whether this program can decrypt a file with this header. */
export function isSealing(value: unknown): value is BackupSealing {
  const { kdf, N, r, p, salt, cipher } = (value ?? {}) as Partial<Record<keyof BackupSealing, unknown>>;
  return (
    kdf === 'scrypt' &&
    cipher === 'AES-256-GCM' &&
    costs.has(N as number) &&
    r === 8 &&
    p === 1 &&
    typeof salt === 'string' &&
    Buffer.from(salt, 'base64').length === saltBytes
  );
}

/** The position of a sealed piece. It can be opened at no other position. */
export interface SealedPlace {
  readonly section: number;
  /** Number of the piece in its section, from 0. */
  readonly piece: number;
  readonly isLast: boolean;
}

/** Seals and opens the pieces of one file, and proves that the file is whole. */
export class Seal {
  private constructor(
    private readonly key: Buffer,
    private readonly macKey: Buffer,
    private readonly header: Buffer,
  ) {}

  /**
   * @param secret passphrase or content of a key file
   * @param header first line of the file, which every piece is bound to
   */
  static async of(secret: Buffer, { N, r, p, salt }: BackupSealing, header: Buffer): Promise<Seal> {
    const master = await new Promise<Buffer>((resolve, reject) => {
      const options = { N, r, p, maxmem: 256 * N * r };
      scrypt(secret, Buffer.from(salt, 'base64'), 32, options, (error, key) =>
        error === null ? resolve(key) : reject(error),
      );
    });
    const derive = (use: string) => Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), use, 32));
    const digest = createHash('sha256').update(header).digest();
    return new Seal(derive('plinth backup: objects'), derive('plinth backup: whole file'), digest);
  }

  async seal(data: Buffer, place: SealedPlace): Promise<Buffer> {
    const cipher = createCipheriv('aes-256-gcm', this.key, nonceOf(place));
    cipher.setAAD(this.boundTo(place));
    const packed = await deflated(data, { level: 4 });
    return Buffer.concat([cipher.update(packed), cipher.final(), cipher.getAuthTag()]);
  }

  /** @throws BackupFileError for another key, a changed piece, or one from another place */
  async open(sealed: Buffer, place: SealedPlace): Promise<Buffer> {
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.key, nonceOf(place), { authTagLength: tagBytes });
      decipher.setAAD(this.boundTo(place));
      decipher.setAuthTag(sealed.subarray(-tagBytes));
      const packed = Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()]);
      return await inflated(packed, { maxOutputLength: mostSealedBytes });
    } catch (error) {
      throw new BackupFileError(
        "has sealed objects that can't be opened: another key or passphrase, or a changed file",
        {
          cause: error,
        },
      );
    }
  }

  /** The proof that the writer of a file with this digest and this end had the key. */
  mac(digest: string, end: string): string {
    return createHmac('sha256', this.macKey).update(this.header).update(`${digest}\n${end}`).digest('base64');
  }

  private boundTo({ section, piece, isLast }: SealedPlace): Buffer {
    return Buffer.concat([this.header, Buffer.from(`${section} ${piece} ${isLast}`)]);
  }
}

/** No position occurs twice in a file, and every file has its own key. */
function nonceOf({ section, piece }: SealedPlace): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(section, 0);
  nonce.writeBigUInt64BE(BigInt(piece), 4);
  return nonce;
}
