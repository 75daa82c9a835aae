import { Agent, request } from 'node:https';

const maxBytes = 1024 * 1024;
const timeoutMs = 10_000;

/** Reads an https address. Rejects any response but a 200 with an acceptable body. */
export type HttpsGet = (url: string, signal: AbortSignal, bearer?: string) => Promise<HttpsAnswer>;

export interface HttpsAnswer {
  readonly body: string;
  /** How long the response may be cached, in seconds (RFC 9111); undefined when the response does not specify it. */
  readonly maxAgeSeconds: number | undefined;
}

/** An {@link HttpsGet} whose CA certificates can be replaced. */
export type HttpsGetter = HttpsGet & {
  /** Checks the servers of later requests against these CA certificates (PEM). */
  trust(ca: string): void;
  close(): void;
};

/**
 * Requests over https only, with limits on time and size, and without following redirects.
 *
 * @param ca CA certificates for the servers in PEM; undefined for those of the host.
 */
export function httpsGetter(ca: string | undefined): HttpsGetter {
  const agentFor = (trusted: string | undefined) =>
    new Agent({
      keepAlive: false,
      maxSockets: 8,
      ...(trusted === undefined ? {} : { ca: trusted, allowPartialTrustChain: true }),
    });
  let agent = agentFor(ca);
  const get: HttpsGet = (url, signal, bearer) => {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    return read(new URL(url), agent, limited, bearer);
  };
  // Requests in progress finish with their old agent, which then closes its connections.
  const trust = (trusted: string) => {
    agent = agentFor(trusted);
  };
  return Object.assign(get, { trust, close: () => agent.destroy() });
}

function read(url: URL, agent: Agent, signal: AbortSignal, bearer: string | undefined): Promise<HttpsAnswer> {
  if (url.protocol !== 'https:')
    return Promise.reject(new Error(`${url.origin} is not read: it is not an https address`));
  const where = `${url.origin}${url.pathname}`;
  const headers = {
    accept: 'application/json, application/jwk-set+json, application/jwt',
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
  };
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      const text = error instanceof Error ? error.message : String(error);
      reject(new Error(`can't read ${where}: ${text}`, { cause: error }));
      sent.destroy();
    };
    const sent = request(url, { agent, headers, signal }, (response) => {
      if (response.statusCode !== 200) {
        fail(new Error(`it answers ${response.statusCode}`));
        return;
      }
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBytes) fail(new Error(`the answer is longer than ${maxBytes} bytes`));
        else chunks.push(chunk);
      });
      response.on('error', fail);
      response.on('end', () => {
        const age = /(?:^|[,\s])max-age=(\d{1,9})/.exec(response.headers['cache-control'] ?? '')?.[1];
        const body = Buffer.concat(chunks).toString('utf8');
        resolve({ body, maxAgeSeconds: age === undefined ? undefined : Number(age) });
      });
    });
    // Without this listener, an unrequested protocol switch would end the request with neither a response nor an error.
    sent.on('upgrade', (response, socket) => {
      // Nothing else closes the connection.
      socket.destroy();
      fail(new Error(`it answers ${response.statusCode}`));
    });
    sent.on('error', fail);
    sent.end();
  });
}
