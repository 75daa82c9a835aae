import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tlsOptions } from '../../../base/outgoing/tls-options.js';

/** The address of a server. The host may be an IP address, without brackets. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

const patienceMs = 10_000;

/**
 * Asks a server for something without credentials. Redirects are not followed, and an answer above `mostBytes` is an error.
 *
 * @param authority PEM that the server's certificate is checked against; without it the server may be anybody
 */
export async function httpsGet(
  { host, port }: Endpoint,
  path: string,
  authority: string | undefined,
  mostBytes: number,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const trust = { ca: authority, insecureSkipVerify: authority === undefined };
  const tls = tlsOptions({ ...trust, cert: undefined, key: undefined, serverName: undefined });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { accept: 'application/json', 'user-agent': 'plinth' };
    const sent = request({ host, port, path, headers, agent: false, signal: limit, ...tls }, resolve);
    sent.on('error', reject);
    sent.end();
  });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBytes) {
      response.destroy();
      throw new Error('the server gives an answer that is too long');
    }
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') };
}
