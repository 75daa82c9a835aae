import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../base/machinery/clock.js';
import { whenClosed } from '../../base/machinery/when-closed.js';
import type { Logger } from '../../base/observability/logger.js';
import { FairSeats } from './fair-seats.js';
import type { UserCredentials } from './login.js';
import { LoginError } from './login-error.js';
import { LoginReader } from './login-reader.js';
import { NoSeat } from './no-seat.js';
import type { OidcClient, OidcTokens } from './oidc-client.js';
import { OidcFlows } from './oidc-flow.js';
import { OidcRefusal } from './oidc-refusal.js';
import { OidcRoutes } from './oidc-routes.js';
import { OidcToken } from './oidc-token.js';
import { refuse } from './refuse.js';
import { RefusedLogin } from './refused-login.js';
import { type SessionCookies, sessionKeyOf } from './session-cookies.js';
import type { ConsoleSession, Sessions } from './sessions.js';
import { tooMany } from './too-many.js';
import { TooManySessions } from './too-many-sessions.js';
import type { LoggedIn, Upstream } from './upstream.js';
import { UpstreamError } from './upstream-error.js';

const loginMs = 15_000;
/**
 * The logins under way and waiting: from one address, which may be that of a proxy in front of everybody, and in total. Those that
 * are wrong end soon, so others wait rather than be refused beside a flood of them.
 */
const loginLimits = { seats: 64, seatsOfUser: 16, waitingOfUser: 1000, waitMs: 10_000 } as const;
/** The most logins that wait in total. */
const mostWaiting = 2000;

/** What the routes of logins need. */
export interface LoginDependencies {
  /** The servers that users may log in to; the first unless they name another. */
  readonly clusters: readonly Upstream[];
  readonly sessions: Sessions;
  readonly cookies: SessionCookies;
  readonly oidc: OidcClient | undefined;
  /** The path below which browsers find the console; empty: none. */
  readonly basePath: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What the page learns about a session. */
  readonly shown: (session: ConsoleSession) => Promise<object>;
  /** Counts one more request of a session under way; undefined when there are too many. */
  readonly begin: (session: ConsoleSession) => (() => void) | undefined;
}

/** Logins, logouts, and who is logged in. */
export class LoginRoutes {
  private readonly logins = new FairSeats(loginLimits);
  private waiting = 0;
  private readonly reader = new LoginReader();

  constructor(private readonly own: LoginDependencies) {}

  addTo(app: FastifyInstance): void {
    const { clusters, cookies, oidc, clock, logger } = this.own;
    // Nobody is logged in yet: names, and nothing else.
    app.get('/console/logins', async (_request, reply) =>
      reply.header('cache-control', 'no-store').send({
        clusters: clusters.map(({ name }) => name),
        ...(oidc === undefined ? {} : { provider: oidc.providerName }),
      }),
    );
    app.post('/console/login', (request, reply) => this.login(request, reply));
    app.get('/console/session', async (request, reply) => {
      const session = await this.sessionOf(request);
      if (session === undefined) return refuse(reply, 401, 'nobody is logged in');
      // It asks the API server what the user may do.
      const end = this.own.begin(session);
      if (end === undefined) return tooMany(reply, 'you have too many requests and watches open in this console');
      whenClosed(reply.raw, end);
      return reply.header('cache-control', 'no-store').send(await this.own.shown(session));
    });
    app.post('/console/logout', async (request, reply) => {
      const session = cookies.find(request.headers, sessionKeyOf(request));
      if (session !== undefined) this.own.sessions.close(session);
      cookies.set(reply, session?.upstream ?? (clusters[0] as Upstream), '', 0);
      return reply.send({});
    });
    if (oidc === undefined) return;
    new OidcRoutes(oidc, new OidcFlows(clock), this.oidcHost(oidc), logger).addTo(app);
  }

  /** The session of a request, with credentials that still count. @throws OidcUnreachable */
  async sessionOf(request: FastifyRequest): Promise<ConsoleSession | undefined> {
    return this.renewed(this.own.cookies.find(request.headers, sessionKeyOf(request)));
  }

  /** The session with credentials that still count; undefined when the provider ends it. @throws OidcUnreachable */
  async renewed(session: ConsoleSession | undefined): Promise<ConsoleSession | undefined> {
    try {
      await session?.renew();
      return session;
    } catch (error) {
      if (!(error instanceof OidcRefusal) || session === undefined) throw error;
      this.own.logger.info('the provider ends a session', { user: session.user.name, reason: error.message });
      this.own.sessions.close(session);
      return undefined;
    }
  }

  /**
   * Ends a session whose credentials the API server no longer accepts, and all that is under way for it: a token that was
   * taken back, or has ended, must not live on in a terminal.
   */
  async isOver(session: ConsoleSession): Promise<boolean> {
    const signal = AbortSignal.any([session.ended.signal, AbortSignal.timeout(loginMs)]);
    if (!session.ended.signal.aborted && (await session.upstream.accepts(session, signal))) return false;
    this.own.logger.info('the API server ends a session', { user: session.user.name });
    this.own.sessions.close(session);
    return true;
  }

  private oidcHost(client: OidcClient) {
    const { clusters, cookies, clock, logger, basePath } = this.own;
    const [cluster] = clusters as readonly [Upstream];
    return {
      basePath,
      cookieOf: (request: FastifyRequest) => cookies.flowOf(request),
      sessionKeyOf,
      setCookie: (reply: FastifyReply, value: string, seconds: number) => cookies.setFlow(reply, value, seconds),
      begin: (request: FastifyRequest, reply: FastifyReply) => this.begin(request, reply),
      enter: (request: FastifyRequest, reply: FastifyReply, tokens: OidcTokens) => {
        const token = new OidcToken(tokens, client, clock, logger);
        const credentials = { tls: { cert: undefined, key: undefined }, authorization: token.authorization };
        return this.enter(cluster, credentials, request, reply, token);
      },
    };
  }

  private async login(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { login, cluster: name } = (request.body ?? {}) as { login?: unknown; cluster?: unknown };
    if (typeof login !== 'string') return refuse(reply, 400, 'login must be a text');
    const { clusters } = this.own;
    const cluster = name === undefined ? clusters[0] : clusters.find((one) => one.name === name);
    if (cluster === undefined) return refuse(reply, 400, 'this console has no such cluster');
    let credentials: UserCredentials;
    try {
      credentials = await this.reader.read(request.ip, login);
    } catch (error) {
      if (error instanceof LoginError) return refuse(reply, 400, error.message);
      if (error instanceof NoSeat) return tooMany(reply, 'too many logins at a time: try again');
      throw error;
    }
    // Each login sends two requests to the API server, for an unknown user.
    const end = await this.begin(request, reply);
    if (end === undefined) return tooMany(reply, 'too many logins at a time: try again');
    try {
      return await this.enter(cluster, credentials, request, reply);
    } finally {
      end();
    }
  }

  /** Waits for the turn of one more login; undefined when there are too many, or the client has left. */
  private async begin({ ip }: FastifyRequest, { raw }: FastifyReply): Promise<(() => void) | undefined> {
    if (this.waiting >= mostWaiting) return undefined;
    const left = new AbortController();
    whenClosed(raw, () => left.abort());
    this.waiting++;
    try {
      return await this.logins.take(ip, left.signal);
    } catch {
      return undefined;
    } finally {
      this.waiting--;
    }
  }

  /** Opens a session for credentials that the API server accepts. */
  private async enter(
    cluster: Upstream,
    credentials: UserCredentials,
    request: FastifyRequest,
    reply: FastifyReply,
    token?: OidcToken,
  ): Promise<FastifyReply> {
    const { sessions, cookies, logger } = this.own;
    try {
      const loggedIn = await cluster.login(credentials, AbortSignal.timeout(loginMs));
      const { user } = loggedIn;
      const before = cookies.find(request.headers, sessionKeyOf(request));
      if (before?.upstream === cluster) sessions.close(before);
      const keys = this.open(cluster, loggedIn, credentials, token);
      logger.info('logged in to the console', { user: user.name });
      const session = sessions.find(keys) as ConsoleSession;
      cookies.set(reply, cluster, keys.cookie, Math.floor(sessions.lifetimeMs / 1000));
      return reply.header('cache-control', 'no-store').send({ ...(await this.own.shown(session)), key: keys.key });
    } catch (error) {
      token?.end();
      if (error instanceof TooManySessions) return refuse(reply, 503, error.message);
      if (error instanceof RefusedLogin) return refuse(reply, 401, error.message);
      if (error instanceof UpstreamError) return refuse(reply, 502, error.message);
      if ((error as Error).name === 'TimeoutError') return refuse(reply, 504, 'the API server does not answer');
      throw error;
    }
  }

  private open(upstream: Upstream, loggedIn: LoggedIn, credentials: UserCredentials, token: OidcToken | undefined) {
    try {
      return this.own.sessions.open({ ...loggedIn, upstream, credentials, token });
    } catch (error) {
      loggedIn.agent.destroy();
      throw error;
    }
  }
}
