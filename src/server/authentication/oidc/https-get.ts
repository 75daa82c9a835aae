import { Agent } from 'node:https';
import { errorText } from '../../../base/machinery/startup-error.js';
import { AnswerSizeError } from '../../../base/outgoing/answer-size-error.js';
import { httpsRequest } from '../../../base/outgoing/https-request.js';

const maxAnswerBytes = 1024 * 1024;
const timeoutMs = 10_000;

/** Reads an https address. Rejects any response but a 200 with an acceptable body. */
export type HttpsGet = (url: string, signal: AbortSignal, bearer?: string) => Promise<HttpsDocument>;

export interface HttpsDocument {
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

async function read(url: URL, agent: Agent, signal: AbortSignal, bearer: string | undefined): Promise<HttpsDocument> {
  if (url.protocol !== 'https:') throw new Error(`${url.origin} is not read: it is not an https address`);
  const headers = {
    accept: 'application/json, application/jwk-set+json, application/jwt',
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
  };
  try {
    const { status, headers: given, text } = await httpsRequest({ url, agent, headers, signal, maxAnswerBytes });
    if (status !== 200) throw new Error(`it answers ${status}`);
    const age = /(?:^|[,\s])max-age=(\d{1,9})/.exec(given['cache-control'] ?? '')?.[1];
    return { body: text, maxAgeSeconds: age === undefined ? undefined : Number(age) };
  } catch (error) {
    const isOtherAnswer = error instanceof AnswerSizeError && error.status !== 200;
    const text = isOtherAnswer ? `it answers ${error.status}` : errorText(error);
    throw new Error(`can't read ${url.origin}${url.pathname}: ${text}`, { cause: error });
  }
}
