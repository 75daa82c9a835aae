import { get as httpGet, type IncomingMessage } from 'node:http';
import { get as httpsGet } from 'node:https';
import { isIPv6 } from 'node:net';
import type { HTTPGetAction } from '../../../objects/apis/core/v1/probe.types.js';
import { dialText } from './dial-text.js';
import { PatientTimeout } from './patient-timeout.js';

/** The response of a server in a container. */
export interface HttpAnswer {
  readonly statusCode: number;
  /** The beginning of the body. */
  readonly text: string;
}

/** A request of a probe or a hook, with the time limit for all of it. */
export interface ContainerRequest {
  readonly action: HTTPGetAction;
  /** Address of the pod, for actions that name no host. */
  readonly address: string;
  readonly port: number;
  readonly userAgent: string;
  readonly timeoutMs: number;
}

/** The rest of a longer body is not read. */
const mostAnswerBytes = 10 * 1024;
const mostRequests = 10;
const redirections = new Set([301, 302, 303, 307, 308]);

type Headers = Record<string, string | string[]>;

interface Step {
  readonly url: URL;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

/**
 * Sends a GET to a container and follows redirections to the same host, up to the usual number. A redirection to
 * another host is itself the result: a container must not send the agent elsewhere. Certificates are not checked.
 *
 * @throws Error without a response; its message is for events
 */
export async function askContainer(request: ContainerRequest): Promise<HttpAnswer> {
  const { action, timeoutMs } = request;
  const first = urlOf(request);
  using timeout = new PatientTimeout(timeoutMs);
  const { signal } = timeout;
  let headers = headersOf(request);
  let url = first;
  for (let sent = 1; ; sent++) {
    const { statusCode, text, location } = await send({ url, headers, signal });
    if (!redirections.has(statusCode) || location === undefined) return { statusCode, text };
    const next = URL.parse(location, url);
    if (next === null) throw new Error(`Get "${url}": failed to parse Location header ${JSON.stringify(location)}`);
    if (next.hostname !== first.hostname) return { statusCode, text };
    if (next.protocol !== 'http:' && next.protocol !== 'https:') {
      throw new Error(`Get "${location}": unsupported protocol scheme "${next.protocol.slice(0, -1)}"`);
    }
    if (sent >= mostRequests) throw new Error(`Get "${location}": stopped after ${mostRequests} redirects`);
    // A redirection to an absolute URL does not get the action's Host header.
    if (URL.canParse(location)) headers = { ...headersOf({ ...request, action: withoutHost(action) }) };
    url = next;
  }
}

function withoutHost(action: HTTPGetAction): HTTPGetAction {
  return { ...action, httpHeaders: (action.httpHeaders ?? []).filter(({ name }) => name.toLowerCase() !== 'host') };
}

function urlOf({ action, address, port }: ContainerRequest): URL {
  const { host: named, path = '/', scheme } = action;
  const host = named || address;
  const [place = ''] = path.split('#');
  const absolute = place.startsWith('/') ? place : `/${place}`;
  const origin = `${(scheme || 'HTTP').toLowerCase()}://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  // The origin is put before the path, since a path with two leading slashes would be read as a host.
  return new URL(`${origin}${absolute.toWellFormed().replace(unsafe, encodeURIComponent)}`);
}

/** Characters that must be encoded in the path or the query of a request. */
const unsafe = /[^!#-;=?-[\]_a-z~]/gu;

function headersOf({ action, userAgent }: ContainerRequest): Headers {
  const headers: Headers = { 'user-agent': userAgent, accept: '*/*', connection: 'close' };
  for (const { name, value } of action.httpHeaders ?? []) {
    const key = name.toLowerCase();
    const before = headers[key];
    const isOwn = ['user-agent', 'accept', 'connection'].includes(key);
    if (value === '' && isOwn) delete headers[key];
    else headers[key] = before === undefined || isOwn || key === 'host' ? value : [before, value].flat();
  }
  return headers;
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

function send({ url, headers, signal }: Step): Promise<HttpAnswer & { readonly location: string | undefined }> {
  return new Promise((resolve, reject) => {
    const port = portOf(url);
    const shown = `${url.protocol}//${url.hostname}:${port}${url.pathname}${url.search}`;
    const fail = (text: string, cause: unknown) => reject(new Error(`Get "${shown}": ${text}`, { cause }));
    const late = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
    const answered = (response: IncomingMessage) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > mostAnswerBytes) response.destroy();
      });
      response.on('error', () => undefined);
      response.on('close', () => {
        if (signal.aborted) return fail(late, signal.reason);
        const { statusCode = 0 } = response;
        resolve({ statusCode, text: text.slice(0, mostAnswerBytes), location: response.headers.location });
      });
    };
    const options = { headers, signal, agent: false };
    const request =
      url.protocol === 'https:'
        ? httpsGet(url, { ...options, rejectUnauthorized: false }, answered)
        : httpGet(url, options, answered);
    request.on('error', (error) =>
      fail(signal.aborted ? late : dialText(url.hostname.replace(/^\[|\]$/g, ''), port, error), error),
    );
  });
}
