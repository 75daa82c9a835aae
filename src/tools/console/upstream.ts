import type { IncomingMessage } from 'node:http';
import { Agent } from 'node:https';
import { Readable } from 'node:stream';
import { BytePieces } from '../../base/machinery/byte-pieces.js';
import type { ClientConfig, ClientTls } from '../../base/outgoing/client-config.js';
import { ClientCredentials } from '../../base/outgoing/client-credentials.js';
import { connectionReason } from '../../base/outgoing/connection-reason.js';
import { type ExchangeAnswer, exchange } from '../../base/outgoing/exchange.js';
import { tlsOptions } from '../../base/outgoing/tls-options.js';
import { Unsent } from '../../base/outgoing/unsent.js';
import type { UserCredentials } from './login.js';
import { RefusedLogin } from './refused-login.js';
import type { SessionUser } from './session-user.js';
import { UpstreamError } from './upstream-error.js';

const connectLimitMs = 10_000;
const mostAnswerBytes = 4 * 1024 * 1024;
/** How the group of reviews of one's own identity begins; the rest is the suffix of all groups of the server. */
const reviewPrefix = 'authentication.';

/** One request to the API server, with the credentials of one user. */
export interface Call {
  readonly agent: Agent;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body?: Readable | undefined;
  readonly signal: AbortSignal;
}

/**
 * An API server behind a console. It is verified as its kubeconfig specifies; credentials are those of the logged-in
 * user.
 */
export class Upstream {
  readonly server: string;
  private readonly url: URL;
  private readonly trust: ClientCredentials;

  /** @param name what people call the cluster; empty where there is only one */
  constructor(
    { server, tls, files }: Omit<ClientConfig, 'auth'>,
    readonly name = '',
  ) {
    this.url = new URL(server);
    this.server = server.replace(/\/$/, '');
    this.trust = new ClientCredentials({ tls, auth: { kind: 'none' }, files });
  }

  /** Resolves with the beginning of the response, whatever its status. Throws {@link UpstreamError}. */
  async ask(call: Call): Promise<IncomingMessage> {
    const answer = await this.exchange(call, false);
    if (answer.kind === 'response') return answer.response;
    answer.socket.destroy();
    throw new UpstreamError("the API server can't be reached: it changed the protocol");
  }

  /**
   * Asks for another protocol. Resolves with the connection that speaks it, or with a response that refuses it. Throws
   * {@link UpstreamError}.
   */
  connect(call: Call): Promise<ExchangeAnswer> {
    return this.exchange(call, true);
  }

  private async exchange(call: Call, mayUpgrade: boolean): Promise<ExchangeAnswer> {
    const { hostname, port, pathname } = this.url;
    const base = pathname.replace(/\/$/, '');
    const host = hostname.replace(/^\[|\]$/g, '');
    const headers = { ...call.headers, host: this.url.host } as Record<string, string>;
    const target = { host, port: port === '' ? 443 : Number(port), path: base + call.path, headers };
    try {
      return await exchange({ ...call, ...target, connectLimitMs, mayUpgrade });
    } catch (error) {
      call.signal.throwIfAborted();
      const reason = error instanceof Unsent ? error.reason : (error as Error);
      throw new UpstreamError(`the API server can't be reached: ${connectionReason(reason)}`, { cause: error });
    }
  }

  /**
   * Asks the API server which user the credentials belong to.
   *
   * @throws RefusedLogin, UpstreamError
   */
  async login(credentials: UserCredentials, signal: AbortSignal): Promise<LoggedIn> {
    const agent = agentFor(await this.trust.tls(), credentials);
    try {
      return { ...(await this.userOf(agent, credentials, signal)), agent };
    } catch (error) {
      agent.destroy();
      throw error;
    }
  }

  /**
   * Whether the API server still accepts the credentials of a session. Where it can't be asked, they count.
   */
  async accepts(session: SessionCredentials, signal: AbortSignal): Promise<boolean> {
    const { agent, authorization } = session;
    const headers = headersOf(authorization);
    try {
      return (await this.json({ agent, method: 'GET', path: '/apis', headers, signal })).status !== 401;
    } catch (error) {
      if (error instanceof UpstreamError || signal.aborted) return true;
      throw error;
    }
  }

  /**
   * Whether the user of a session may `get` a non-resource URL, by the API server's decision.
   *
   * @throws RefusedLogin where it no longer accepts the credentials, UpstreamError
   */
  async mayRead(session: SessionCredentials, path: string, signal: AbortSignal): Promise<boolean> {
    const { agent, authorization, suffix } = session;
    const headers = headersOf(authorization);
    const group = `authorization.${suffix}`;
    const review = {
      apiVersion: `${group}/v1`,
      kind: 'SelfSubjectAccessReview',
      spec: { nonResourceAttributes: { path, verb: 'get' } },
    };
    const reviews = `/apis/${group}/v1/selfsubjectaccessreviews`;
    const { status, body } = await this.json(
      { agent, method: 'POST', path: reviews, headers, signal },
      JSON.stringify(review),
    );
    if (status === 401) throw new RefusedLogin('the API server no longer accepts these credentials');
    return status < 300 && (body as { status?: { allowed?: unknown } } | undefined)?.status?.allowed === true;
  }

  private async userOf(
    agent: Agent,
    { authorization }: UserCredentials,
    signal: AbortSignal,
  ): Promise<Omit<LoggedIn, 'agent'>> {
    const headers = headersOf(authorization);
    const groups = await this.json({ agent, method: 'GET', path: '/apis', headers, signal });
    if (groups.status === 401) throw new RefusedLogin('the API server does not accept these credentials');
    const names = (groups.body as { groups?: { name?: string }[] } | undefined)?.groups ?? [];
    // Groups of the server come before those that users add.
    const group = names.map(({ name = '' }) => name).find((name) => name.startsWith(reviewPrefix));
    if (group === undefined) throw new RefusedLogin(`the API server lists no groups for this user (${groups.status})`);
    const suffix = group.slice(reviewPrefix.length);
    const review = { apiVersion: `${group}/v1`, kind: 'SelfSubjectReview' };
    const { status, body } = await this.json(
      { agent, method: 'POST', path: `/apis/${group}/v1/selfsubjectreviews`, headers, signal },
      JSON.stringify(review),
    );
    if (status === 401) throw new RefusedLogin('the API server does not accept these credentials');
    const info = (body as { status?: { userInfo?: { username?: string; groups?: string[] } } } | undefined)?.status
      ?.userInfo;
    // Servers before 1.28 can't report the user.
    if (status === 404) return { user: { name: '', groups: [] }, suffix };
    if (info?.username === undefined) throw new RefusedLogin(`the API server does not say who this is (${status})`);
    if (info.username === 'system:anonymous') throw new RefusedLogin('the API server does not know these credentials');
    return { user: { name: info.username, groups: info.groups ?? [] }, suffix };
  }

  /** Sends one short request, whose response is JSON or is ignored. */
  async json(call: Omit<Call, 'body'>, text?: string): Promise<{ readonly status: number; readonly body: unknown }> {
    const typed = text === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await this.ask({
      ...call,
      headers: { ...call.headers, ...typed },
      ...(text === undefined ? {} : { body: Readable.from([text]) }),
    });
    const pieces = new BytePieces();
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      pieces.add(chunk);
      if (pieces.length > mostAnswerBytes) throw new UpstreamError('the API server sent a response that is too long');
    }
    let body: unknown;
    try {
      body = JSON.parse(pieces.join().toString('utf8'));
    } catch {
      body = undefined;
    }
    return { status: answer.statusCode ?? 0, body };
  }
}

interface SessionCredentials {
  readonly agent: Agent;
  readonly authorization: string | undefined;
  readonly suffix: string;
}

/** Connections of one user. */
function agentFor(server: ClientTls, { tls }: UserCredentials): Agent {
  return new Agent({ keepAlive: true, ...tlsOptions({ ...server, cert: tls.cert, key: tls.key }) });
}

function headersOf(authorization: string | undefined): Readonly<Record<string, string>> {
  const headers = { accept: 'application/json', 'user-agent': 'plinth-console' };
  return authorization === undefined ? headers : { ...headers, authorization };
}

/** A user that the API server knows. */
export interface LoggedIn {
  readonly user: SessionUser;
  readonly agent: Agent;
  /** The suffix of the server's own groups. */
  readonly suffix: string;
}
