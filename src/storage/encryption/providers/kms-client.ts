import type * as grpc from '@grpc/grpc-js';
import protobuf, { type Reader, type Writer } from 'protobufjs/minimal.js';

/** What a key management service reports about itself. */
export interface KmsStatus {
  readonly version: string;
  /** `ok`, or what is wrong. */
  readonly healthz: string;
  /** The key that the service encrypts with now. */
  readonly keyId: string;
}

/** A secret that the service has encrypted, with the data that the service needs to decrypt it. */
export interface EncryptedSecret {
  readonly ciphertext: Buffer;
  readonly keyId: string;
  readonly annotations: Readonly<Record<string, Buffer>>;
}

/** A client of version 2 of the service. Calls fail with the error of the connection or of the service. */
export interface KmsClient {
  status(): Promise<KmsStatus>;
  encrypt(plaintext: Buffer, uid: string): Promise<EncryptedSecret>;
  decrypt(secret: EncryptedSecret, uid: string): Promise<Buffer>;
  close(): void;
}

/** The path of the service's methods. */
export const service = '/v2.KeyManagementService/';
const bytesWire = 2;
/** Calls fail at once while there is no connection, so reconnecting must be frequent. */
const reconnecting = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 1_000 };

/**
 * Creates a client for the service behind a unix socket. The gRPC library is loaded only where a service is used.
 *
 * @param timeoutMs limit of one call
 */
export async function connectKms(socket: string, timeoutMs: number): Promise<KmsClient> {
  // The module's default export is the same in the bundled and the unbundled program.
  const { Client, credentials } = (await import('@grpc/grpc-js')).default;
  const address = socket.startsWith('@') ? `unix-abstract:${socket.slice(1)}` : `unix:${socket}`;
  const client = new Client(address, credentials.createInsecure(), reconnecting);
  const call = <T>(method: string, request: Writer, read: (reader: Reader) => T): Promise<T> =>
    new Promise((resolve, reject) => {
      const done = (error: grpc.ServiceError | null, answer?: T) =>
        error === null && answer !== undefined ? resolve(answer) : reject(error ?? new Error('no answer'));
      const encode = (writer: Writer) => Buffer.from(writer.finish());
      const decode = (bytes: Buffer) => read(protobuf.Reader.create(bytes));
      client.makeUnaryRequest(service + method, encode, decode, request, { deadline: Date.now() + timeoutMs }, done);
    });
  return {
    status: () => call('Status', protobuf.Writer.create(), readStatus),
    encrypt: (plaintext, uid) =>
      call(
        'Encrypt',
        protobuf.Writer.create().uint32(field(1)).bytes(plaintext).uint32(field(2)).string(uid),
        readEncrypted,
      ),
    decrypt: ({ ciphertext, keyId, annotations }, uid) => {
      const request = protobuf.Writer.create().uint32(field(1)).bytes(ciphertext).uint32(field(2)).string(uid);
      request.uint32(field(3)).string(keyId);
      for (const [key, value] of Object.entries(annotations)) {
        request.uint32(field(4)).fork().uint32(field(1)).string(key).uint32(field(2)).bytes(value).ldelim();
      }
      return call('Decrypt', request, readPlaintext);
    },
    close: () => client.close(),
  };
}

function field(number: number): number {
  return number * 8 + bytesWire;
}

/** Calls `visit` for every length-delimited field; all fields of the service are of this type. */
function eachField(reader: Reader, end: number, visit: (number: number) => void): void {
  while (reader.pos < end) {
    const tag = reader.uint32();
    const before = reader.pos;
    if ((tag & 7) === bytesWire) visit(tag >>> 3);
    if (reader.pos === before) reader.skipType(tag & 7);
  }
}

function readStatus(reader: Reader): KmsStatus {
  const status = { version: '', healthz: '', keyId: '' };
  eachField(reader, reader.len, (number) => {
    if (number === 1) status.version = reader.string();
    else if (number === 2) status.healthz = reader.string();
    else if (number === 3) status.keyId = reader.string();
  });
  return status;
}

function readEncrypted(reader: Reader): EncryptedSecret {
  const annotations: Record<string, Buffer> = {};
  const secret = { ciphertext: Buffer.alloc(0), keyId: '', annotations };
  eachField(reader, reader.len, (number) => {
    if (number === 1) secret.ciphertext = Buffer.from(reader.bytes());
    else if (number === 2) secret.keyId = reader.string();
    else if (number === 3) {
      let key = '';
      let value = Buffer.alloc(0);
      eachField(reader, reader.uint32() + reader.pos, (part) => {
        if (part === 1) key = reader.string();
        else if (part === 2) value = Buffer.from(reader.bytes());
      });
      annotations[key] = value;
    }
  });
  return secret;
}

function readPlaintext(reader: Reader): Buffer {
  let plaintext = Buffer.alloc(0);
  eachField(reader, reader.len, (number) => {
    if (number === 1) plaintext = Buffer.from(reader.bytes());
  });
  return plaintext;
}
