import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { StorageError } from '../../storage-error.js';
import type { Provider } from '../provider.js';
import { openGcm, sealGcm } from './aes-gcm-provider.js';
import type { EncryptedSecret, KmsClient } from './kms-client.js';

export interface KmsOptions {
  readonly name: string;
  readonly connect: () => Promise<KmsClient>;
  readonly now?: () => number;
  readonly onError?: (error: unknown) => void;
}

/** A secret of this process, and its encrypted form from the service. */
interface OwnSecret extends EncryptedSecret {
  readonly plaintext: Buffer;
  /** The prefix of every text sealed with the secret. */
  readonly header: Buffer;
}

const secretBytes = 32;
/**
 * If a service has not reported itself healthy for this long, it may have lost its key: nothing new is encrypted with
 * its secret. In milliseconds.
 */
const trustMs = 180_000;
const healthyPollMs = 60_000;
const faultyPollMs = 10_000;
const mostSecrets = 1_000;
/** The limits of the service's API; longer values are refused. */
const mostKeyIdBytes = 1_024;
const mostCiphertextBytes = 1_024;
const mostAnnotationBytes = 32_768;

/**
 * Encrypts with a secret of this process, which a key management service encrypts in turn (KMS version 2). The service
 * is called once for each secret, and once a minute for its status: never for a single object. When its key changes,
 * the process creates a new secret. Texts name the key and begin with the encrypted secret, so that any process can
 * open them.
 */
export class KmsProvider implements Provider {
  readonly label: string;
  private own: OwnSecret | undefined;
  private wellAt = Number.NEGATIVE_INFINITY;
  private fault: unknown = new Error('the service has not been called yet');
  private client: Promise<KmsClient> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly secrets = new Map<string, Buffer>();
  private readonly fetching = new Map<string, Promise<void>>();
  private readonly now: () => number;

  constructor(private readonly options: KmsOptions) {
    this.label = `kms:${encodeURIComponent(options.name)}`;
    this.now = options.now ?? (() => performance.now());
  }

  /** Queries the status of the service now, and from then on once a minute. Resolves after the first query. */
  async start(): Promise<void> {
    await this.poll();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    void this.client?.then(
      (client) => client.close(),
      () => undefined,
    );
    this.client = undefined;
  }

  /** Throws an error that describes the service's problem, if it has one. */
  check(): void {
    if (this.fault !== undefined) throw this.fault;
  }

  seal(plain: Buffer, context: Buffer): Buffer {
    const { own } = this;
    if (own === undefined || this.now() - this.wellAt > trustMs) {
      const reason = `the key management service ${this.options.name} does not answer`;
      throw new StorageError('Unavailable', reason, { reason, cause: this.fault });
    }
    return Buffer.concat([own.header, sealGcm(own.plaintext, plain, context)]);
  }

  open(sealed: Buffer, context: Buffer): Buffer {
    const { id, text } = split(sealed);
    const secret = this.secrets.get(id);
    if (secret === undefined) throw new Error(`the key management service ${this.options.name} returned no key for it`);
    return openGcm(secret, text, context);
  }

  isOutdated(sealed: Buffer): boolean {
    return this.own !== undefined && split(sealed).secret.keyId !== this.own.keyId;
  }

  prepare(sealed: Buffer): Promise<void> | undefined {
    let parts: ReturnType<typeof split>;
    try {
      parts = split(sealed);
    } catch {
      return undefined;
    }
    const { id, secret } = parts;
    if (this.secrets.has(id)) return undefined;
    let fetched = this.fetching.get(id);
    if (fetched === undefined) {
      fetched = this.fetch(id, secret).finally(() => this.fetching.delete(id));
      this.fetching.set(id, fetched);
    }
    return fetched;
  }

  private async fetch(id: string, secret: EncryptedSecret): Promise<void> {
    try {
      const client = await this.connected();
      this.remember(id, await client.decrypt(secret, randomUUID()));
    } catch (error) {
      this.options.onError?.(error);
    }
  }

  private remember(id: string, secret: Buffer): void {
    this.secrets.set(id, secret);
    for (const oldest of this.secrets.keys()) {
      if (this.secrets.size <= mostSecrets) return;
      this.secrets.delete(oldest);
    }
  }

  private connected(): Promise<KmsClient> {
    this.client ??= this.options.connect();
    return this.client;
  }

  private async poll(): Promise<void> {
    try {
      const client = await this.connected();
      const { version, healthz, keyId } = await client.status();
      if (version !== 'v2' && version !== 'v2beta1')
        throw new Error(`speaks version ${JSON.stringify(version)}, not v2`);
      if (healthz !== 'ok') throw new Error(`reports its health as: ${healthz.slice(0, 200)}`);
      if (keyId === '' || Buffer.byteLength(keyId) > mostKeyIdBytes) throw new Error('names no usable key');
      if (this.own?.keyId !== keyId) await this.renew(client);
      this.wellAt = this.now();
      this.fault = undefined;
    } catch (error) {
      this.fault = error;
      this.options.onError?.(error);
    }
    // The provider was stopped meanwhile.
    if (this.client === undefined) return;
    this.timer = setTimeout(() => void this.poll(), this.fault === undefined ? healthyPollMs : faultyPollMs).unref();
  }

  private async renew(client: KmsClient): Promise<void> {
    const plaintext = randomBytes(secretBytes);
    const encrypted = await client.encrypt(plaintext, randomUUID());
    const annotationBytes = Object.values(encrypted.annotations).reduce((sum, { length }) => sum + length, 0);
    const { ciphertext, keyId } = encrypted;
    if (ciphertext.length === 0 || ciphertext.length > mostCiphertextBytes || annotationBytes > mostAnnotationBytes) {
      throw new Error('gave back an encrypted secret of an unusable size');
    }
    if (keyId === '' || Buffer.byteLength(keyId) > mostKeyIdBytes) throw new Error('names no usable key');
    const header = headerOf(encrypted);
    this.own = { ...encrypted, plaintext, header };
    this.remember(idOf(header), plaintext);
  }
}

/** The header of a text: the length, then JSON with the encrypted secret. */
function headerOf({ ciphertext, keyId, annotations }: EncryptedSecret): Buffer {
  const texts = Object.entries(annotations).map(([key, value]) => [key, value.toString('base64')]);
  const json = Buffer.from(JSON.stringify({ secret: ciphertext.toString('base64'), keyId, annotations: texts }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([length, json]);
}

function idOf(header: Buffer): string {
  return createHash('sha256').update(header).digest('base64');
}

function split(sealed: Buffer): { id: string; secret: EncryptedSecret; text: Buffer } {
  const end = 4 + (sealed.length < 4 ? 0 : sealed.readUInt32BE(0));
  if (sealed.length < end) throw new Error('the text is too short');
  const { secret, keyId, annotations } = JSON.parse(sealed.toString('utf8', 4, end)) as {
    secret: string;
    keyId: string;
    annotations: [string, string][];
  };
  const values = annotations.map(([key, value]) => [key, Buffer.from(value, 'base64')] as const);
  return {
    id: idOf(sealed.subarray(0, end)),
    secret: { ciphertext: Buffer.from(secret, 'base64'), keyId, annotations: Object.fromEntries(values) },
    text: sealed.subarray(end),
  };
}
