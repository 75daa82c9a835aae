import { once } from 'node:events';
import { Agent, request as httpsRequest } from 'node:https';
import { constants, gunzipSync } from 'node:zlib';

/** A read as a client sends it. */
export interface Ask {
  /** Path and query, without continue token. */
  readonly path: string;
  /** `stream`: a watch whose initial events count as one list; `pages`: continued until the last page. */
  readonly how: 'once' | 'pages' | 'stream';
  readonly accept: string;
  readonly gzip: boolean;
}

/** What the usual clients accept. */
export const accepts = {
  json: 'application/json',
  /** Of client-go for built-in kinds. */
  protobuf: 'application/vnd.kubernetes.protobuf,application/json',
  /** Of kubectl. */
  table:
    'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json',
} as const;

/** Parameters of a watch that begins with a list. */
export const streamedList = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
const initialEnd = 'k8s.io/initial-events-end';
/** Characters at the end of a stream in which the bookmark of a list stands. */
const bookmarkCharacters = 2_000;
/** A list's metadata come first, in this many bytes at most. */
const headBytes = 8_192;

/** Sends reads to one server over connections that it keeps, and hardly looks at the answers. */
export class Asker {
  private readonly agent: Agent;

  constructor(
    private readonly url: string,
    private readonly token: string,
    connections: number,
  ) {
    this.agent = new Agent({ keepAlive: true, maxSockets: connections, rejectUnauthorized: false });
  }

  close(): void {
    this.agent.destroy();
  }

  /** Resolves with the bytes of all answers; rejects for an answer without success or in another form. */
  async ask({ path, how, accept, gzip }: Ask): Promise<number> {
    let token: string | undefined;
    let bytes = 0;
    do {
      const continued = token === undefined ? '' : `&continue=${encodeURIComponent(token)}`;
      const body = await this.answer(`${path}${continued}`, how === 'stream', accept, gzip);
      bytes += body.length;
      token = how === 'pages' ? continueToken(body) : undefined;
    } while (token !== undefined);
    return bytes;
  }

  /** Creates an object; resolves with its answer, and rejects for one without success. */
  async create(path: string, object: unknown): Promise<string> {
    const body = JSON.stringify(object);
    const request = httpsRequest(`${this.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
      agent: this.agent,
    });
    request.end(body);
    const [response] = await once(request, 'response');
    const parts: Buffer[] = [];
    for await (const part of response as AsyncIterable<Buffer>) parts.push(part);
    const text = Buffer.concat(parts).toString();
    if (response.statusCode !== 201) throw new Error(`POST ${path}: ${response.statusCode} ${text.slice(0, 300)}`);
    return text;
  }

  private async answer(path: string, isStream: boolean, accept: string, gzip: boolean): Promise<Buffer> {
    const request = httpsRequest(`${this.url}${path}`, {
      headers: {
        authorization: `Bearer ${this.token}`,
        accept,
        ...(gzip ? { 'accept-encoding': 'gzip' } : {}),
      },
      agent: this.agent,
    });
    request.end();
    const [response] = await once(request, 'response');
    const parts: Buffer[] = [];
    let ended = !isStream;
    for await (const part of response as AsyncIterable<Buffer>) {
      parts.push(part);
      if (!isStream || !endsInitial(parts)) continue;
      ended = true;
      break;
    }
    const body = Buffer.concat(parts);
    const type = String(response.headers['content-type']);
    if (response.statusCode !== 200)
      throw new Error(`${path}: ${response.statusCode} ${body.toString('latin1', 0, 300)}`);
    if (!type.startsWith(accept.split(/[;,]/)[0] as string)) throw new Error(`${path} is answered with ${type}`);
    if (accept === accepts.table && !isStream && !gunzipped(body).includes('"kind":"Table"'))
      throw new Error(`${path} is answered without a table`);
    if (!ended) throw new Error(`${path} ended before its initial events`);
    return body;
  }
}

/** Whether the bookmark behind the initial events has come. */
function endsInitial(parts: readonly Buffer[]): boolean {
  const last = parts.slice(-2).map((part) => part.subarray(-bookmarkCharacters));
  return Buffer.concat(last).includes(initialEnd);
}

/** The continue token of a page in JSON, as a table or in protobuf, perhaps compressed; undefined on the last page. */
export function continueToken(body: Buffer): string | undefined {
  const head = gunzipped(body);
  if (head.toString('latin1', 0, 4) === 'k8s\0') return protobufToken(head);
  const found = /"continue":"([^"]+)"/.exec(head.toString('latin1'))?.[1];
  return found === undefined ? undefined : (JSON.parse(`"${found}"`) as string);
}

/** The beginning of a body without compression. */
function gunzipped(body: Buffer): Buffer {
  const head = body.subarray(0, headBytes);
  if (head[0] !== 0x1f || head[1] !== 0x8b) return head;
  return gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, headBytes);
}

/** Field 3 of the metadata, which are field 1 of the list, which is field 2 of the envelope. */
function protobufToken(head: Buffer): string | undefined {
  const raw = field(head.subarray(4), 2);
  const metadata = raw === undefined ? undefined : field(raw, 1);
  const token = metadata === undefined ? undefined : field(metadata, 3);
  return token === undefined || token.length === 0 ? undefined : token.toString('latin1');
}

/** The bytes of a field of a message, as far as they are there; all fields before it have a length. */
function field(message: Buffer, wanted: number): Buffer | undefined {
  let at = 0;
  while (at < message.length) {
    const tag = message[at] as number;
    let length = 0;
    let shift = 0;
    do {
      at += 1;
      length += ((message[at] as number) & 0x7f) * 2 ** shift;
      shift += 7;
    } while ((message[at] as number) >= 0x80);
    at += 1;
    if (tag === ((wanted << 3) | 2)) return message.subarray(at, at + length);
    if ((tag & 7) !== 2) throw new Error(`a field of type ${tag & 7} comes before field ${wanted}`);
    at += length;
  }
  return undefined;
}
