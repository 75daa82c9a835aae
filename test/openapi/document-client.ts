import { parse, stringify } from 'yaml';
import { decodeCbor } from '../../src/base/machinery/cbor/decode-cbor.js';
import { encodeCbor } from '../../src/base/machinery/cbor/encode-cbor.js';
import { formatApiVersion } from '../../src/base/machinery/group-version.js';
import { decode, type KindType } from '../../src/base/machinery/schema/index.js';
import { decodeEnvelope } from '../../src/base/machinery/schema/protobuf/index.js';
import { groupName, vendorNames } from '../../src/base/machinery/vendor.js';
import { listKind } from '../../src/objects/apis/meta/v1/list-kind.types.js';
import {
  type BytesRequest,
  type BytesResponse,
  decodeObject,
  encodeObject,
  ProtobufClient,
} from '../e2e/support/protobuf-client.js';
import { declaredTypes } from '../support/declared-types.js';
import type { Json } from './document-schemas.js';

const names = vendorNames('k8s.io');

/** A decoded answer in any of the documented forms. */
export interface Answer {
  readonly status: number;
  /** Media type without parameters such as `charset`, but with `stream`. */
  readonly mediaType: string;
  readonly warning: string | undefined;
  /** The decoded body in any form; undefined for another form, or none. */
  readonly value: Json;
  /** The events of a watch: those of a stream of JSON are decoded, those of other forms are left out. */
  readonly events: readonly Json[] | undefined;
  readonly text: string;
}

export interface Sent {
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: Json;
}

/** No answer to a request of this check may take longer, in milliseconds: one that never ends must be named. */
const answerLimit = 60_000;

/** Speaks every form that the documents name, for requests and answers. */
export class DocumentClient {
  private readonly kinds = new Map<string, KindType>();

  private constructor(
    private readonly plain: ProtobufClient,
    private readonly stranger: ProtobufClient,
  ) {}

  static async open(url: string, authority: string, token: string): Promise<DocumentClient> {
    const client = new DocumentClient(
      new ProtobufClient(url, authority, token),
      new ProtobufClient(url, authority, 'nobody-knows-this-token'),
    );
    const { kinds } = await declaredTypes();
    for (const type of kinds) client.kinds.set(keyOf(type), type);
    for (const item of kinds) {
      const type = listKind(item, { name: `${item.name}List` });
      if (!client.kinds.has(keyOf(type))) client.kinds.set(keyOf(type), type);
    }
    return client;
  }

  async send(method: string, path: string, { accept = 'application/json', ...sent }: Sent = {}): Promise<Answer> {
    const { body, contentType = 'application/json' } = sent;
    const bytes = body === undefined ? undefined : this.encode(contentType, body);
    const request = { accept, ...(bytes === undefined ? {} : { body: bytes, contentType }) };
    return this.read(await ended(this.plain, method, path, request));
  }

  /** The same request by a sender whose token is not known. */
  async sendAsStranger(method: string, path: string): Promise<Answer> {
    return this.read(await ended(this.stranger, method, path, { accept: 'application/json' }));
  }

  private read(answer: BytesResponse): Answer {
    const { status, headers, bytes } = answer;
    const mediaType = (headers['content-type'] ?? '').replace(/;\s*charset=[^;]*/, '').replaceAll(' ', '');
    const text = bytes.toString('utf8');
    const warning = headers.warning as string | undefined;
    const events = eventsOf(mediaType, text);
    return {
      status,
      mediaType,
      warning,
      text,
      events,
      value: events ? undefined : this.decode(mediaType, bytes, text),
    };
  }

  private decode(mediaType: string, bytes: Buffer, text: string): Json {
    if (mediaType === 'application/yaml') return parse(text, { version: '1.1' });
    if (mediaType === 'application/json') return JSON.parse(text);
    if (mediaType === 'application/cbor') return JSON.parse(JSON.stringify(decodeCbor(bytes)));
    if (mediaType !== names.protobufMediaTypes[0]) return undefined;
    const envelope = decodeEnvelope(bytes);
    // The versions of the core group have no version themselves.
    const type = this.kinds.get(`${envelope.apiVersion || 'v1'} ${envelope.kind}`);
    if (type === undefined) throw new Error(`no declaration of ${envelope.apiVersion} ${envelope.kind} is known`);
    const value = decodeObject(type, envelope);
    // Protobuf can't express a list without members.
    return value.items === null ? { ...value, items: [] } : value;
  }

  private encode(contentType: string, body: Json): Buffer {
    if (typeof body === 'string') return Buffer.from(body);
    // Servers read YAML 1.1, where `yes` is a boolean unless it has quotes.
    if (contentType.endsWith('yaml')) return Buffer.from(stringify(body, { version: '1.1' }));
    if (contentType.endsWith('cbor')) return encodeCbor(body);
    if (contentType !== names.protobufMediaTypes[0]) return Buffer.from(JSON.stringify(body));
    const type = this.kinds.get(`${body.apiVersion} ${body.kind}`);
    if (type === undefined) throw new Error(`no declaration of ${body.apiVersion} ${body.kind} is known`);
    return encodeObject(type, decode(type, body).value as Json);
  }
}

/** @throws Error that names the request, when its answer has not ended in time */
async function ended(
  client: ProtobufClient,
  method: string,
  path: string,
  request: BytesRequest,
): Promise<BytesResponse> {
  const signal = AbortSignal.timeout(answerLimit);
  try {
    return await client.send(method, path, { ...request, signal });
  } catch (error) {
    const why = signal.aborted ? `its answer has not ended after ${answerLimit / 1000} s` : String(error);
    throw new Error(`${method} ${path} as ${request.accept}: ${why}`, { cause: error });
  }
}

function keyOf({ kind: { group, version, kind: name } }: KindType): string {
  return `${formatApiVersion({ group: groupName(group, names), version })} ${name}`;
}

/** The events of a series of JSON values, as a watch writes them; none of other streams; undefined for one value. */
function eventsOf(mediaType: string, text: string): readonly Json[] | undefined {
  if (/-seq$|;stream=/.test(mediaType) && !mediaType.startsWith('application/json')) return [];
  if (!mediaType.startsWith('application/json')) return undefined;
  if (text !== '' && !/^\{"type":"[A-Z]+","object":/.test(text)) return undefined;
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
