import type { IncomingMessage } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Clock, systemClock } from '../../base/machinery/clock.js';
import { paceServer } from '../../base/machinery/pace-server.js';
import { restrictUpgrades } from '../../base/machinery/restrict-upgrades.js';
import { whenClosed } from '../../base/machinery/when-closed.js';
import type { Logger } from '../../base/observability/logger.js';
import { type Asset, encodingFor, loadAssets } from './assets.js';
import { pageBelow, withoutBase } from './base-path.js';
import { forward } from './forward.js';
import { isRead } from './forward-rules.js';
import { Origins, securityHeaders } from './guard.js';
import { LoginRoutes } from './login-routes.js';
import { OidcClient, type OidcSettings } from './oidc-client.js';
import { oidcCallbackPath } from './oidc-routes.js';
import { OidcUnreachable } from './oidc-unreachable.js';
import { refuse } from './refuse.js';
import { SessionCookies } from './session-cookies.js';
import { type ConsoleSession, Sessions } from './sessions.js';
import { SqlReader } from './sql-reader.js';
import { SqlRoutes } from './sql-routes.js';
import { Terminals } from './terminals.js';
import { tooMany } from './too-many.js';
import { UnderWay } from './under-way.js';
import type { Upstream } from './upstream.js';

export interface ConsoleSettings {
  readonly bindAddress: string;
  /** The port to listen on; 0: any free one. */
  readonly port: number;
  /** Certificate and key in PEM; without them the console speaks plain HTTP, which is for loopback addresses. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Further addresses under which browsers reach the console. */
  readonly origins: readonly string[];
  /** The path below which a proxy serves the console, without a slash at its end; empty by default. */
  readonly basePath?: string | undefined;
  readonly sessionMs: number;
  readonly logger: Logger;
  /** A database for SQL queries, as a role that may only read; undefined: none. */
  readonly sql?: { readonly url: string; readonly timeoutMs: number; readonly rows: number } | undefined;
  /** A provider of logins for the first cluster; undefined: none. */
  readonly oidc?: OidcSettings | undefined;
  /** Whether nobody changes anything through this console; false by default. */
  readonly readOnly?: boolean;
  readonly clock?: Clock;
  /** The folder of the built page, if it is not that of the program. */
  readonly assets?: string;
}

const loginBytes = 256 * 1024;
const expireMs = 10_000;
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
 * Serves the page and passes its requests on to an API server, each with the credentials of the user that sent it.
 *
 * @param clusters the servers that users may log in to; the first is where they are unless they choose another
 * @throws the error of listening
 */
export async function startConsole(clusters: readonly Upstream[], settings: ConsoleSettings): Promise<RunningConsole> {
  const { tls, basePath = '' } = settings;
  const options = {
    forceCloseConnections: true,
    bodyLimit: loginBytes,
    requestTimeout: arrivalMs,
    logger: false,
    rewriteUrl: ({ url = '/' }: { url?: string }) => withoutBase(url, basePath),
    // URLs that can't be decoded reach no hook.
    frameworkErrors: (error: Error, _request: FastifyRequest, reply: FastifyReply) =>
      void refuse(reply.headers(securityHeaders), 400, error.message),
  } as const;
  const app = (tls === undefined
    ? Fastify(options)
    : Fastify({ ...options, https: tls })) as unknown as FastifyInstance;
  const server = new ConsoleServer(clusters, settings, withBase(loadAssets(settings.assets), basePath));
  server.addTo(app);
  restrictUpgrades(app.server);
  paceServer(app.server);
  app.server.on('upgrade', (request, socket, head) => {
    request.url = withoutBase(request.url ?? '/', basePath);
    void server.terminals.take(request, socket, head);
  });
  await app.listen({ host: settings.bindAddress, port: settings.port });
  const { port } = app.server.address() as { readonly port: number };
  const scheme = tls === undefined ? 'http' : 'https';
  const own = ownNames(settings.bindAddress).map((host) => `${scheme}://${host}:${port}`);
  server.listens(port, [...own, ...settings.origins]);
  const expiry = setInterval(() => server.sessions.expire(), expireMs).unref();
  return {
    url: `${settings.origins[0] ?? own[0]}${basePath}/`,
    port,
    stop: async () => {
      clearInterval(expiry);
      server.stop();
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

/** The files of the page, for browsers that find them below a path. */
function withBase(assets: ReadonlyMap<string, Asset>, basePath: string): ReadonlyMap<string, Asset> {
  const page = assets.get('/');
  return page === undefined ? assets : new Map(assets).set('/', pageBelow(page, basePath));
}

class ConsoleServer {
  readonly sessions: Sessions;
  readonly terminals: Terminals;
  private origins = new Origins([]);
  private readonly cookies: SessionCookies;
  private readonly logins: LoginRoutes;
  private readonly oidc: OidcClient | undefined;
  private readonly sql: SqlRoutes;
  private readonly forwarded = new UnderWay(forwardLimits);

  constructor(
    clusters: readonly Upstream[],
    private readonly settings: ConsoleSettings,
    private readonly assets: ReadonlyMap<string, Asset>,
  ) {
    const { sql, logger, clock = systemClock, sessionMs, oidc, tls, origins, basePath = '' } = settings;
    const [first] = clusters;
    if (first === undefined) throw new Error('a console needs a cluster');
    this.sessions = new Sessions(clock, sessionMs);
    // Browsers connect over TLS to this server, or to a proxy in front of it.
    const isSecure = tls !== undefined || (origins.length > 0 && origins.every((one) => one.startsWith('https:')));
    this.cookies = new SessionCookies(clusters, this.sessions, isSecure, basePath);
    this.oidc = oidc === undefined ? undefined : new OidcClient(oidc, clock);
    const reader = sql === undefined ? undefined : new SqlReader(sql.url, sql);
    this.sql = new SqlRoutes(first, reader, logger, (session) => this.logins.isOver(session));
    this.logins = new LoginRoutes({
      clusters,
      sessions: this.sessions,
      cookies: this.cookies,
      oidc: this.oidc,
      basePath,
      clock,
      logger,
      shown: (session) => this.shown(session),
      begin: ({ share }) => this.forwarded.begin(share),
    });
    const guard = {
      problem: ({ headers }: IncomingMessage) =>
        this.origins.problem(headers, 'GET', false) ?? (settings.readOnly === true ? readOnlyProblem : undefined),
      sessionOf: ({ headers }: IncomingMessage, key: string | undefined) =>
        this.logins.renewed(this.cookies.find(headers, key)),
      isOver: (session: ConsoleSession) => this.logins.isOver(session),
      begin: ({ share }: ConsoleSession) => this.forwarded.begin(share),
    };
    this.terminals = new Terminals(guard, logger);
  }

  /** Sets the port and the origins. Before this call, every request is refused. */
  listens(port: number, origins: readonly string[]): void {
    this.cookies.listens(port);
    this.origins = new Origins(origins);
  }

  stop(): void {
    this.sessions.stop();
    this.oidc?.stop();
  }

  addTo(app: FastifyInstance): void {
    app.addHook('onRequest', async (request, reply) => {
      reply.headers(securityHeaders);
      const problem = this.origins.problem(request.headers, request.method, this.pageOf(request.url) !== undefined);
      if (problem !== undefined) await refuse(reply, 403, problem);
    });
    app.setErrorHandler(async (error, _request, reply) => {
      if (error instanceof OidcUnreachable) return refuse(reply, 502, error.message);
      const status = (error as { statusCode?: number }).statusCode ?? 500;
      if (status >= 500) this.settings.logger.error('a request to the console failed', { error });
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
    this.logins.addTo(app);
    this.sql.addTo(app, (request) => this.logins.sessionOf(request));
  }

  /** The file of the page at an address: the page itself where a provider sends the browser back to. */
  private pageOf(url: string): Asset | undefined {
    const isCallback = this.oidc !== undefined && url.split('?', 1)[0] === oidcCallbackPath;
    return this.assets.get(isCallback ? '/' : url);
  }

  private async other(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const asset = this.pageOf(request.url);
    if (asset !== undefined) return sendAsset(asset, request, reply);
    const session = await this.logins.sessionOf(request);
    if (session === undefined) return refuse(reply, 401, 'log in first');
    if (this.settings.readOnly === true && !isRead(request.method, request.url, session.suffix))
      return refuse(reply, 403, readOnlyProblem);
    const end = this.forwarded.begin(session.share);
    if (end === undefined) return tooMany(reply, 'you have too many requests and watches open in this console');
    // Also ends the count for a response that nobody reads.
    whenClosed(reply.raw, end);
    return forward(session, request, reply, (each) => this.logins.isOver(each));
  }

  private async shown(session: ConsoleSession) {
    const { user, until, upstream } = session;
    const sql = await this.sql.mayAsk(session);
    const readOnly = this.settings.readOnly === true;
    return {
      user,
      server: upstream.server,
      cluster: upstream.name,
      until: new Date(until).toISOString(),
      sql,
      readOnly,
    };
  }
}

function sendAsset(asset: Asset, { method, headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (method !== 'GET' && method !== 'HEAD') return refuse(reply, 405, 'there is nothing to change here');
  reply.headers({ etag: asset.etag, 'cache-control': 'no-cache', vary: 'accept-encoding' });
  if (headers['if-none-match'] === asset.etag) return reply.code(304).send();
  const { body, encoding } = encodingFor(asset, headers['accept-encoding']);
  if (encoding !== undefined) reply.header('content-encoding', encoding);
  return reply.type(asset.type).send(body);
}
