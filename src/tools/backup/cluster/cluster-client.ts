import type { IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import { pauseAfter } from '../../../base/machinery/backoff.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import type { ApiAccess, Credentials } from '../../../base/outgoing/api-access.js';
import type { ClientTls } from '../../../base/outgoing/client-config.js';
import { retireAgent } from '../../../base/outgoing/retire-agent.js';
import { tlsOptions } from '../../../base/outgoing/tls-options.js';
import { printable } from '../format/printable.js';
import { ApiFault } from './api-fault.js';
import { BrokenList } from './broken-list.js';
import { ItemSplitter } from './item-splitter.js';

/** How long a server may be silent before it counts as unreachable, in milliseconds. */
const silenceMs = 90_000;
/** The most bytes of a response other than a list. */
const mostBytes = 64 * 1024 * 1024;
/** How often a request is sent in total when the server postpones it or does not answer. */
const mostTries = 6;
const firstPauseMs = 250;

/** A list's own metadata. */
export interface ListMetadata {
  readonly resourceVersion?: string;
  readonly continue?: string;
}

export interface ClusterRequest {
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal: AbortSignal;
}

type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

/** Requests to the API of one cluster, of any vendor, over a few connections that are kept open. */
export class ClusterClient {
  private agent: Agent;
  private tls: ClientTls;
  private readonly base: URL;

  /** @param pause waits between tries, or rejects when the signal is aborted */
  constructor(
    private readonly access: ApiAccess,
    private readonly pause: Pause,
    private readonly connections = 16,
    private readonly userAgent = 'plinth-backup',
  ) {
    this.base = new URL(access.server);
    this.tls = access.tls;
    this.agent = this.connect();
  }

  get server(): string {
    return this.base.href.replace(/\/$/, '');
  }

  close(): void {
    this.agent.destroy();
  }

  /**
   * Sends one request and returns the response. The request is sent again when the server asks for that, and a read
   * also when the connection fails.
   *
   * @throws ApiFault for an error response, StartupError when there is no response
   */
  async send<T = Record<string, unknown>>(method: string, path: string, options: ClusterRequest): Promise<T> {
    const text = options.body === undefined ? undefined : Buffer.from(JSON.stringify(options.body));
    return this.again(method === 'GET', options.signal, async () => {
      const response = await this.begin(method, path, text, options);
      return (await answerOf(response)) as T;
    });
  }

  /**
   * One part of a list, whose objects are passed on while it arrives. The request is not sent again after its first
   * object.
   *
   * @param onItem receives each object as the server wrote it
   * @throws BrokenList when the connection ends later, StartupError when the server offers the same part as the next
   * one
   */
  async list(
    path: string,
    signal: AbortSignal,
    onItem: (item: Buffer) => Promise<void>,
    accept?: string,
  ): Promise<ListMetadata> {
    let hasBegun = false;
    return this.again(true, signal, async () => {
      if (hasBegun) throw new BrokenList(`${this.server}: the connection ended in the middle of a list`);
      const response = await this.begin('GET', path, undefined, {
        signal,
        ...(accept === undefined ? {} : { accept }),
      });
      if (response.statusCode !== 200) return listMetadata(await answerOf(response), path);
      const splitter = new ItemSplitter();
      for await (const chunk of response as AsyncIterable<Buffer>) {
        for (const item of splitter.push(chunk)) {
          hasBegun = true;
          await onItem(item);
        }
      }
      return listMetadata(splitter.end(), path);
    });
  }

  private async again<T>(isRead: boolean, signal: AbortSignal, once: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await once();
      } catch (error) {
        signal.throwIfAborted();
        const isPutOff = error instanceof ApiFault && (error.status === 429 || (isRead && error.status === 503));
        const isCut = isRead && !(error instanceof ApiFault) && !(error instanceof StartupError);
        if ((!isPutOff && !isCut) || tries === mostTries) {
          if (error instanceof ApiFault || error instanceof StartupError) throw error;
          throw new StartupError(`${this.server}: ${(error as Error).message}`, { cause: error });
        }
        await this.pause(pauseAfter(tries, { firstMs: firstPauseMs, longestMs: Number.POSITIVE_INFINITY }), signal);
      }
    }
  }

  private connect(): Agent {
    return new Agent({ keepAlive: true, maxSockets: this.connections, ...tlsOptions(this.tls) });
  }

  /** The beginning of the response. After a 401 there may be newer credentials, which are tried once. */
  private async begin(
    method: string,
    path: string,
    body: Buffer | undefined,
    options: ClusterRequest,
  ): Promise<IncomingMessage> {
    const credentials = await this.access.present();
    const response = await this.beginAs(credentials, method, path, body, options);
    if (response.statusCode !== 401) return response;
    try {
      if (!(await this.access.renew(credentials))) return response;
    } catch (error) {
      response.destroy();
      throw error;
    }
    response.resume();
    return this.beginAs(await this.access.present(), method, path, body, options);
  }

  private beginAs(
    { tls, authorization }: Credentials,
    method: string,
    path: string,
    body: Buffer | undefined,
    { accept = 'application/json', contentType = 'application/json', signal }: ClusterRequest,
  ): Promise<IncomingMessage> {
    if (tls !== this.tls) {
      retireAgent(this.agent);
      this.tls = tls;
      this.agent = this.connect();
    }
    const prefix = this.base.pathname.replace(/\/$/, '');
    const options: RequestOptions = {
      method,
      agent: this.agent,
      host: this.base.hostname.replace(/^\[|\]$/g, ''),
      port: this.base.port === '' ? 443 : this.base.port,
      path: `${prefix}${path}`,
      signal,
      headers: {
        accept,
        'user-agent': this.userAgent,
        ...(authorization === undefined ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': contentType, 'content-length': body.length }),
      },
    };
    return new Promise((resolve, reject) => {
      const sent = request(options, resolve);
      sent.setTimeout(silenceMs, () => sent.destroy(new Error('the server did not answer in time')));
      sent.on('error', reject);
      sent.end(body);
    });
  }
}

/** The metadata of the list at a path. */
function listMetadata(list: unknown, path: string): ListMetadata {
  const { resourceVersion = '', continue: token = '' } = fieldsOf(fieldsOf(list).metadata);
  const [, query = ''] = path.split('?');
  if (typeof token !== 'string' || (token !== '' && token === new URLSearchParams(query).get('continue'))) {
    throw new StartupError('the server sent a list that does not end');
  }
  return { resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '', continue: token };
}

/** The fields of a response, none if it is not an object: a server may send anything. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

async function answerOf(response: IncomingMessage): Promise<object> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBytes) throw new StartupError('the server sent a response that is too long');
    chunks.push(chunk);
  }
  let body: unknown;
  try {
    body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    body = undefined;
  }
  const status = response.statusCode ?? 0;
  const isObject = typeof body === 'object' && body !== null;
  if (status >= 200 && status < 300 && isObject) return body as object;
  const { reason, message, details } = (isObject ? body : {}) as Partial<Record<'reason' | 'message', unknown>> & {
    readonly details?: { readonly causes?: unknown };
  };
  const causes = Array.isArray(details?.causes) ? details.causes : [];
  throw new ApiFault(
    status,
    typeof reason === 'string' ? reason : '',
    printable(typeof message === 'string' ? message : answeredInstead(status)),
    causes.map((cause) => String((cause as { field?: unknown } | null)?.field ?? '')),
  );
}

function answeredInstead(status: number): string {
  return status >= 200 && status < 300
    ? 'the server answered with no object of the API'
    : `the server answered ${status}`;
}
