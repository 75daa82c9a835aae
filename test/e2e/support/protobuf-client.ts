import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { formatApiVersion } from '../../../src/base/machinery/group-version.js';
import type { KindType } from '../../../src/base/machinery/schema/index.js';
import {
  decodeEnvelope,
  decodeProtobuf,
  type Envelope,
  encodeEnvelope,
  encodeProtobuf,
} from '../../../src/base/machinery/schema/protobuf/index.js';
import { groupName, vendorNames } from '../../../src/base/machinery/vendor.js';

const names = vendorNames('k8s.io');

export const protobuf = 'application/vnd.kubernetes.protobuf';

export interface BytesResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

export interface BytesRequest {
  readonly body?: Buffer;
  readonly contentType?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the request, and the reading of its answer, with an error. */
  readonly signal?: AbortSignal;
}

/** A client that sends and reads bytes, by default protobuf. */
export class ProtobufClient {
  constructor(
    private readonly url: string,
    private readonly ca: string,
    private readonly token: string,
  ) {}

  async send(method: string, path: string, options: BytesRequest = {}): Promise<BytesResponse> {
    const response = await this.open(method, path, options);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return { status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) };
  }

  /** Opens a watch and yields type and envelope of each event; calling `return()` closes the connection. */
  async *watch(path: string): AsyncGenerator<{ type: string; object: Envelope; contentType: string }> {
    const response = await this.open('GET', path, {});
    const contentType = response.headers['content-type'] ?? '';
    let rest: Buffer = Buffer.alloc(0);
    try {
      for await (const chunk of response) {
        rest = Buffer.concat([rest, chunk as Buffer]);
        while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE(0)) {
          const length = rest.readUInt32BE(0);
          yield { ...readEvent(rest.subarray(4, 4 + length)), contentType };
          rest = rest.subarray(4 + length);
        }
      }
    } finally {
      response.destroy();
    }
  }

  protected open(method: string, path: string, options: BytesRequest): Promise<IncomingMessage> {
    const headers: Record<string, string> = {
      authorization: `Bearer ${this.token}`,
      'user-agent': 'e2e/1.0',
      accept: options.accept ?? protobuf,
      ...options.headers,
    };
    if (options.body !== undefined) {
      headers['content-type'] = options.contentType ?? protobuf;
      headers['content-length'] = String(options.body.length);
    }
    return new Promise((resolve, reject) => {
      const { signal } = options;
      const request = httpsRequest(`${this.url}${path}`, { method, headers, ca: this.ca, signal }, resolve);
      request.on('error', reject);
      request.end(options.body);
    });
  }
}

/** Decodes an event: field 1 is its type, field 2 a message whose field 1 is the object's body. */
function readEvent(data: Buffer): { type: string; object: Envelope } {
  const type = field(data, 1).toString('utf8');
  return { type, object: decodeEnvelope(field(field(data, 2), 1)) };
}

/** The bytes of a length-delimited field, read without the codec under test. */
function field(data: Buffer, number: number): Buffer {
  let position = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = data[position++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (position < data.length) {
    const tag = varint();
    const length = varint();
    if (tag === ((number << 3) | 2)) return data.subarray(position, position + length);
    position += length;
  }
  throw new Error(`no field ${number}`);
}

/** The protobuf body of an object. */
export function encodeObject(type: KindType, object: { kind?: string; apiVersion?: string }): Buffer {
  const { group, version, kind } = type.kind;
  const apiVersion = formatApiVersion({ group: groupName(group, names), version });
  return encodeEnvelope(object.apiVersion ?? apiVersion, object.kind ?? kind, encodeProtobuf(type, object));
}

/** Reads a body as `type`; kind and apiVersion come from its envelope. */
// biome-ignore lint/suspicious/noExplicitAny: tests read whatever the server answered
export function decodeObject(type: KindType, body: Buffer | Envelope): any {
  const envelope = Buffer.isBuffer(body) ? decodeEnvelope(body) : body;
  return { kind: envelope.kind, apiVersion: envelope.apiVersion, ...(decodeProtobuf(type, envelope.raw) as object) };
}
