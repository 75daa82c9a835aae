import { connect } from 'node:http2';
import { request } from 'node:https';
import type { Credentials } from './api-client.js';
import { responseOf } from './http2-client.js';

/** Header fields as lines, in order; a name may come several times. */
export type FieldLines = readonly (readonly [string, string])[];

export interface FieldsAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever the server answered
  readonly body: any;
}

/** Sends one request on a connection of its own with exactly these fields, over HTTP/1.1 or HTTP/2. */
export async function sendFields(
  http: 1 | 2,
  url: string,
  credentials: Credentials,
  lines: FieldLines,
  body?: unknown,
): Promise<FieldsAnswer> {
  const { token, ...tls } = credentials;
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const own: FieldLines = [
    ...(token === undefined ? [] : [['authorization', `Bearer ${token}`] as const]),
    ...(payload === undefined ? [] : [['content-type', 'application/json'] as const]),
  ];
  // Node sends each character of a header as one byte.
  const all = [...own, ...lines].map(([name, value]) => [name, Buffer.from(value).toString('latin1')] as const);
  return http === 1 ? overHttp1(url, tls, all, payload) : overHttp2(url, tls, all, payload);
}

function overHttp1(url: string, tls: object, lines: FieldLines, payload: string | undefined): Promise<FieldsAnswer> {
  const flat = lines.flat();
  if (payload !== undefined) flat.push('content-length', String(Buffer.byteLength(payload)));
  const headers = ['host', new URL(url).host, ...flat] as unknown as Record<string, string>;
  const method = payload === undefined ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...tls, method, headers, agent: false }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      resolve({ status: response.statusCode ?? 0, body: parsed(chunks) });
    });
    sent.on('error', reject);
    // As bytes, since a text would be sent together with the header, in the header's encoding.
    sent.end(payload === undefined ? undefined : Buffer.from(payload));
  });
}

async function overHttp2(
  url: string,
  tls: object,
  lines: FieldLines,
  payload: string | undefined,
): Promise<FieldsAnswer> {
  const { origin, pathname, search } = new URL(url);
  const session = connect(origin, { ...tls, maxSendHeaderBlockLength: 1 << 20 });
  session.on('error', () => undefined);
  try {
    const headers: Record<string, string | string[]> = {
      ':method': payload === undefined ? 'GET' : 'POST',
      ':path': `${pathname}${search}`,
    };
    for (const [name, value] of lines) {
      const before = headers[name.toLowerCase()];
      headers[name.toLowerCase()] = before === undefined ? value : [before, value].flat();
    }
    const stream = session.request(headers, { endStream: payload === undefined });
    if (payload !== undefined) stream.end(payload);
    const answer = await responseOf(stream);
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return { status: Number(answer[':status']), body: parsed(chunks) };
  } finally {
    session.destroy();
  }
}

function parsed(chunks: readonly Buffer[]): unknown {
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
