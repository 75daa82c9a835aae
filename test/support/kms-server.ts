import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

const { root } = protobuf.parse(`
  syntax = "proto3";
  package v2;
  message StatusRequest {}
  message StatusResponse { string version = 1; string healthz = 2; string key_id = 3; }
  message DecryptRequest { bytes ciphertext = 1; string uid = 2; string key_id = 3; map<string, bytes> annotations = 4; }
  message DecryptResponse { bytes plaintext = 1; }
  message EncryptRequest { bytes plaintext = 1; string uid = 2; }
  message EncryptResponse { bytes ciphertext = 1; string key_id = 2; map<string, bytes> annotations = 3; }
`);

type Message = Record<string, unknown>;

/** A key management service, version 2, on a socket. Its keys are created on demand. */
export class KmsServer {
  /** Tests change this id to rotate the key. */
  keyId = 'key-1';
  healthz = 'ok';
  /** The number of calls by method. */
  readonly calls: Record<string, number> = { Status: 0, Encrypt: 0, Decrypt: 0 };
  readonly socket: string;
  private readonly keys = new Map<string, Buffer>();
  private server: Server | undefined;

  constructor(private readonly folder = mkdtempSync(join(tmpdir(), 'plinth-kms-'))) {
    this.socket = join(folder, 'kms.sock');
  }

  get endpoint(): string {
    return `unix://${this.socket}`;
  }

  async start(): Promise<void> {
    const server = new Server();
    const unary = (method: string, answer: (request: Message) => Message) => {
      const [request, response] = ['Request', 'Response'].map((part) => root.lookupType(`v2.${method}${part}`));
      server.register(
        `/v2.KeyManagementService/${method}`,
        (call: ServerUnaryCall<Message, Message>, done: sendUnaryData<Message>) => {
          this.calls[method] = (this.calls[method] ?? 0) + 1;
          try {
            done(null, answer(call.request));
          } catch (error) {
            done({ code: status.INTERNAL, details: (error as Error).message });
          }
        },
        (value) => Buffer.from((response as protobuf.Type).encode(value).finish()),
        (bytes) => (request as protobuf.Type).toObject((request as protobuf.Type).decode(bytes)),
        'unary',
      );
    };
    unary('Status', () => ({ version: 'v2', healthz: this.healthz, keyId: this.keyId }));
    unary('Encrypt', ({ plaintext }) => this.encrypt(plaintext as Buffer));
    unary('Decrypt', (request) => ({ plaintext: this.decrypt(request) }));
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix:${this.socket}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    this.server = server;
  }

  /** Ends all connections; `start` serves again. */
  stop(): void {
    this.server?.forceShutdown();
    rmSync(this.socket, { force: true });
  }

  remove(): void {
    this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private encrypt(plaintext: Buffer): Message {
    const iv = randomBytes(16);
    const cipher = createCipheriv('aes-256-cbc', this.key(this.keyId), iv);
    const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
    return { ciphertext, keyId: this.keyId, annotations: { 'iv.kms.example.org': iv } };
  }

  private decrypt({ ciphertext, keyId, annotations }: Message): Buffer {
    if (!this.keys.has(keyId as string)) throw new Error(`no key ${keyId}`);
    const iv = (annotations as Record<string, Buffer>)['iv.kms.example.org'] as Buffer;
    const decipher = createDecipheriv('aes-256-cbc', this.key(keyId as string), iv);
    return Buffer.concat([decipher.update(ciphertext as Buffer), decipher.final()]);
  }

  private key(id: string): Buffer {
    let key = this.keys.get(id);
    if (key === undefined) {
      key = randomBytes(32);
      this.keys.set(id, key);
    }
    return key;
  }
}
