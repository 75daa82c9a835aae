import type { IncomingMessage } from 'node:http';
import type { Agent } from 'node:https';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Clock, systemClock } from '../../base/machinery/clock.js';
import type { Logger } from '../../base/observability/logger.js';
import { type Asset, encodingFor, loadAssets } from './assets.js';
import { forward } from './forward.js';
import { isRead } from './forward-rules.js';
import { cookieOf, Origins, securityHeaders } from './guard.js';
import { LoginError, type UserCredentials } from './login.js';
import { refuse } from './refuse.js';
import type { SessionUser } from './session-user.js';
import { type ConsoleSession, type SessionKeys, Sessions, TooManySessions } from './sessions.js';
import { SqlReader } from './sql-reader.js';
import { SqlRoutes } from './sql-routes.js';
import { Terminals } from './terminals.js';
import { UnderWay } from './under-way.js';
import { RefusedLogin, type Upstream, UpstreamError } from './upstream.js';

export interface ConsoleSettings {
  readonly bindAddress: string;
  /** The port to listen on; 0: any free one. */
  readonly port: number;
  /** Certificate and key in PEM; without them the console speaks plain HTTP, which is for loopback addresses. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Further addresses under which browsers reach the console. */
  readonly origins: readonly string[];
  readonly sessionMs: number;
  readonly logger: Logger;
  /** A database for SQL queries, as a role that may only read; undefined: none. */
  readonly sql?: { readonly url: string; readonly timeoutMs: number; readonly rows: number } | undefined;
  /** Whether nobody changes anything through this console; false by default. */
  readonly readOnly?: boolean;
  readonly clock?: Clock;
  /** The folder of the built page, if it is not that of the program. */
  readonly assets?: string;
}

/** The header with the second secret of a session. Pages of other origins can't send it without a preflight request. */
export const keyHeader = 'x-plinth-console';

const loginBytes = 256 * 1024;
const loginMs = 15_000;
const expireMs = 10_000;
/** The most logins under way: from one address, which may be that of a proxy in front of everybody, and in total. */
const loginLimits = { ofOne: 16, ofAll: 64 } as const;
/** Requests, watches and logs under way: a browser keeps 6 of one page over HTTP/1.1, and many people have several pages. */
const forwardLimits = { ofOne: 128, ofAll: 8192 } as const;
/** How long a request may take to arrive. */
const arrivalMs = 60_000;

const readOnlyProblem = 'this console is read-only';

/** A running console. */
export interface RunningConsole {
  /** The address at which browsers find the console. */
  readonly url: string;
  /** The port that it listens on. */
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Serves the page and passes its requests on to the API server, each with the credentials of the user that sent it.
 *
 * @throws the error of listening
 */
export async function startConsole(upstream: Upstream, settings: ConsoleSettings): Promise<RunningConsole> {
  const { tls } = settings;
  const options = {
    forceCloseConnections: true,
    bodyLimit: loginBytes,
    requestTimeout: arrivalMs,
    logger: false,
    // URLs that can't be decoded reach no hook.
    frameworkErrors: (error: Error, _request: FastifyRequest, reply: FastifyReply) =>
      void refuse(reply.headers(securityHeaders), 400, error.message),
  } as const;
  const app = (tls === undefined
    ? Fastify(options)
    : Fastify({ ...options, https: tls })) as unknown as FastifyInstance;
  const server = new ConsoleServer(upstream, settings, loadAssets(settings.assets));
  server.addTo(app);
  app.server.on('upgrade', (request, socket, head) => void server.terminals.take(request, socket, head));
  await app.listen({ host: settings.bindAddress, port: settings.port });
  const { port } = app.server.address() as { readonly port: number };
  const scheme = tls === undefined ? 'http' : 'https';
  const own = ownNames(settings.bindAddress).map((host) => `${scheme}://${host}:${port}`);
  server.listens(port, [...own, ...settings.origins]);
  const expiry = setInterval(() => server.sessions.expire(), expireMs).unref();
  return {
    url: `${settings.origins[0] ?? own[0]}/`,
    port,
    stop: async () => {
      clearInterval(expiry);
      server.sessions.stop();
      await app.close();
    },
  };
}

/** The host names that browsers may use for an address; for the unspecified address, only those of this machine. */
function ownNames(address: string): readonly string[] {
  if (address === '127.0.0.1' || address === '0.0.0.0') return ['127.0.0.1', 'localhost'];
  if (address === '::1' || address === '::') return ['[::1]', 'localhost'];
  return [address.includes(':') ? `[${address}]` : address];
}

class ConsoleServer {
  readonly sessions: Sessions;
  readonly terminals: Terminals;
  private origins = new Origins([]);
  private cookieName = '';
  private readonly sql: SqlRoutes;
  private readonly logins = new UnderWay(loginLimits);
  private readonly forwarded = new UnderWay(forwardLimits);

  constructor(
    private readonly upstream: Upstream,
    private readonly settings: ConsoleSettings,
    private readonly assets: ReadonlyMap<string, Asset>,
  ) {
    this.sessions = new Sessions(settings.clock ?? systemClock, settings.sessionMs);
    const { sql, logger } = settings;
    const reader = sql === undefined ? undefined : new SqlReader(sql.url, sql);
    this.sql = new SqlRoutes(upstream, reader, logger);
    const guard = {
      problem: ({ headers }: IncomingMessage) =>
        this.origins.problem(headers, 'GET', false) ?? (settings.readOnly === true ? readOnlyProblem : undefined),
      sessionOf: ({ headers }: IncomingMessage, key: string | undefined) =>
        this.sessions.find({ cookie: cookieOf(headers.cookie, this.cookieName), key }),
      begin: ({ share }: ConsoleSession) => this.forwarded.begin(share),
    };
    this.terminals = new Terminals(upstream, guard, logger);
  }

  /** Sets the port and the origins. Before this call, every request is refused. */
  listens(port: number, origins: readonly string[]): void {
    // Browsers send a cookie to every port of a host; several consoles on one host need cookies of different names.
    this.cookieName = this.isSecure ? `__Host-plinth-console-${port}` : `plinth-console-${port}`;
    this.origins = new Origins(origins);
  }

  /** Whether browsers connect over TLS: to this server, or to a proxy in front of it. */
  private get isSecure(): boolean {
    const { tls, origins } = this.settings;
    return tls !== undefined || (origins.length > 0 && origins.every((origin) => origin.startsWith('https:')));
  }

  addTo(app: FastifyInstance): void {
    app.addHook('onRequest', async (request, reply) => {
      reply.headers(securityHeaders);
      const problem = this.origins.problem(request.headers, request.method, this.assets.has(request.url));
      if (problem !== undefined) await refuse(reply, 403, problem);
    });
    app.setErrorHandler(async (error, _request, reply) => {
      const status = (error as { statusCode?: number }).statusCode ?? 500;
      if (status >= 500) this.settings.logger.error('a request of the console failed', { error });
      await refuse(reply, status, status >= 500 ? 'the console failed; its log says why' : (error as Error).message);
    });
    app.register((scope, _options, done) => {
      this.addOwn(scope);
      done();
    });
    app.register((scope, _options, done) => {
      // Bodies are passed on to the API server as they come.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
      scope.all('/*', (request, reply) => this.other(request, reply));
      done();
    });
  }

  /** Adds the routes of the requests that the console itself handles. */
  private addOwn(app: FastifyInstance): void {
    // Forms of other sites can send text without a preflight request.
    app.removeContentTypeParser('text/plain');
    app.post('/console/login', (request, reply) => this.login(request, reply));
    app.get('/console/session', async (request, reply) => {
      const session = this.sessionOf(request);
      if (session === undefined) return refuse(reply, 401, 'nobody is logged in');
      return reply.header('cache-control', 'no-store').send(await this.shown(session));
    });
    this.sql.addTo(app, (request) => this.sessionOf(request));
    app.post('/console/logout', async (request, reply) => {
      this.sessions.close(this.keysOf(request));
      return reply.header('set-cookie', this.cookie('', 0)).send({});
    });
  }

  private async login(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { login } = (request.body ?? {}) as { login?: unknown };
    if (typeof login !== 'string') return refuse(reply, 400, 'login must be a text');
    // Each login sends two requests to the API server, for an unknown user.
    const end = this.logins.begin(request.ip);
    if (end === undefined) return tooMany(reply, 'too many logins at a time: try again');
    try {
      const { user, agent, credentials } = await this.upstream.login(login, AbortSignal.timeout(loginMs));
      this.sessions.close(this.keysOf(request));
      const keys = this.openSession(user, agent, credentials);
      this.settings.logger.info('logged in to the console', { user: user.name });
      const session = this.sessions.find(keys) as ConsoleSession;
      return reply
        .header('cache-control', 'no-store')
        .header('set-cookie', this.cookie(keys.cookie, Math.floor(this.settings.sessionMs / 1000)))
        .send({ ...(await this.shown(session)), key: keys.key });
    } catch (error) {
      if (error instanceof LoginError) return refuse(reply, 400, error.message);
      if (error instanceof TooManySessions) return refuse(reply, 503, error.message);
      if (error instanceof RefusedLogin) return refuse(reply, 401, error.message);
      if (error instanceof UpstreamError) return refuse(reply, 502, error.message);
      if ((error as Error).name === 'TimeoutError') return refuse(reply, 504, 'the API server does not answer');
      throw error;
    } finally {
      end();
    }
  }

  private openSession(user: SessionUser, agent: Agent, credentials: UserCredentials): SessionKeys {
    try {
      return this.sessions.open(user, agent, credentials);
    } catch (error) {
      agent.destroy();
      throw error;
    }
  }

  private async other(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const asset = this.assets.get(request.url);
    if (asset !== undefined) return sendAsset(asset, request, reply);
    const session = this.sessionOf(request);
    if (session === undefined) return refuse(reply, 401, 'log in first');
    if (this.settings.readOnly === true && !isRead(request.method, request.url))
      return refuse(reply, 403, readOnlyProblem);
    const end = this.forwarded.begin(session.share);
    if (end === undefined) return tooMany(reply, 'you have too many requests and watches open in this console');
    // Also ends the count for a response that nobody reads.
    reply.raw.once('close', end);
    return forward(this.upstream, session, request, reply);
  }

  private async shown(session: ConsoleSession) {
    const { user, until } = session;
    const sql = await this.sql.mayAsk(session);
    const readOnly = this.settings.readOnly === true;
    return { user, server: this.upstream.server, until: new Date(until).toISOString(), sql, readOnly };
  }

  private keysOf({ headers }: FastifyRequest): Partial<SessionKeys> {
    const key = headers[keyHeader];
    const cookie = cookieOf(headers.cookie, this.cookieName);
    return { ...(cookie === undefined ? {} : { cookie }), ...(typeof key === 'string' ? { key } : {}) };
  }

  private sessionOf(request: FastifyRequest): ConsoleSession | undefined {
    return this.sessions.find(this.keysOf(request));
  }

  private cookie(value: string, seconds: number): string {
    const secure = this.isSecure ? '; Secure' : '';
    return `${this.cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`;
  }
}

function tooMany(reply: FastifyReply, problem: string): FastifyReply {
  return refuse(reply.header('retry-after', '1'), 429, problem);
}

function sendAsset(asset: Asset, { method, headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (method !== 'GET' && method !== 'HEAD') return refuse(reply, 405, 'there is nothing to change here');
  reply.headers({ etag: asset.etag, 'cache-control': 'no-cache', vary: 'accept-encoding' });
  if (headers['if-none-match'] === asset.etag) return reply.code(304).send();
  const { body, encoding } = encodingFor(asset, headers['accept-encoding']);
  if (encoding !== undefined) reply.header('content-encoding', encoding);
  return reply.type(asset.type).send(body);
}
