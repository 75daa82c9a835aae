import { isIPv6 } from 'node:net';
import { type HttpsAnswer, httpsRequest } from '../../../base/outgoing/https-request.js';
import { tlsOptions } from '../../../base/outgoing/tls-options.js';

/** The address of a server. The host may be an IP address, without brackets. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

const patienceMs = 10_000;

/**
 * Asks a server for something without credentials. Redirects are not followed, and an answer above `maxAnswerBytes` is an error.
 *
 * @param authority PEM that the server's certificate is checked against; without it the server may be anybody
 */
export async function httpsGet(
  { host, port }: Endpoint,
  path: string,
  authority: string | undefined,
  maxAnswerBytes: number,
  signal: AbortSignal,
): Promise<HttpsAnswer> {
  const trust = { ca: authority, insecureSkipVerify: authority === undefined };
  return httpsRequest({
    url: new URL(`https://${isIPv6(host) ? `[${host}]` : host}:${port}${path}`),
    agent: false,
    tls: tlsOptions({ ...trust, cert: undefined, key: undefined, serverName: undefined }),
    headers: { accept: 'application/json', 'user-agent': 'plinth' },
    signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
    maxAnswerBytes,
  });
}
