import assert from 'node:assert/strict';
import { CborError, decodeCbor, encodeCbor } from '../../../src/base/machinery/cbor/index.js';
import type { WatchEvent } from './api-client.js';
import { ProtobufClient } from './protobuf-client.js';

export const cbor = 'application/cbor';
/** The Accept header of client-go when it prefers CBOR. */
export const preferred = 'application/json;q=0.9,application/cbor;q=1';

export interface CborResponse {
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever the server answered
  readonly body: any;
}

export interface CborRequest {
  /** The body, encoded in CBOR; bytes are sent unchanged. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
}

/**
 * A client that behaves like client-go with `ClientsPreferCBOR`. Every answer must be CBOR and begin with the
 * self-described tag.
 */
export class CborClient extends ProtobufClient {
  async ask(method: string, path: string, options: CborRequest = {}): Promise<CborResponse> {
    const { body, contentType = cbor, accept = preferred } = options;
    const sent = body === undefined || Buffer.isBuffer(body) ? body : encodeCbor(body);
    const answer = await this.send(method, path, sent === undefined ? { accept } : { body: sent, contentType, accept });
    const type = answer.headers['content-type'] ?? '';
    const { status, bytes } = answer;
    assert.equal(type, cbor, bytes.toString('latin1'));
    return { status, contentType: type, bytes, body: readTagged(bytes) };
  }

  /** Opens a watch and yields its events; calling `return()` closes the connection. */
  async *events(path: string, accept = preferred): AsyncGenerator<WatchEvent> {
    const response = await this.open('GET', path, { accept });
    assert.equal(response.headers['content-type'], 'application/cbor-seq');
    let rest: Buffer = Buffer.alloc(0);
    try {
      for await (const chunk of response) {
        rest = Buffer.concat([rest, chunk as Buffer]);
        for (let end = endOfFirst(rest); end !== undefined; end = endOfFirst(rest)) {
          yield readTagged(rest.subarray(0, end)) as WatchEvent;
          rest = rest.subarray(end);
        }
      }
    } finally {
      response.destroy();
    }
  }
}

function readTagged(bytes: Buffer): unknown {
  assert.equal(bytes.subarray(0, 3).toString('hex'), 'd9d9f7');
  return decodeCbor(bytes);
}

/** The offset at which the first of several items ends; undefined while the item is incomplete. */
function endOfFirst(bytes: Buffer): number | undefined {
  try {
    decodeCbor(bytes);
    return bytes.length;
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    const index = /extraneous data starting at index (\d+)/.exec(error.message)?.[1];
    if (index !== undefined) return Number(index);
    if (/unexpected EOF/.test(error.message)) return undefined;
    throw error;
  }
}
