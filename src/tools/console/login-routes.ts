import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../base/machinery/clock.js';
import type { Logger } from '../../base/observability/logger.js';
import { readLogin, type UserCredentials } from './login.js';
import { LoginError } from './login-error.js';
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
import { UnderWay } from './under-way.js';
import type { LoggedIn, Upstream } from './upstream.js';
import { UpstreamError } from './upstream-error.js';

const loginMs = 15_000;
/** The most logins under way: from one address, which may be that of a proxy in front of everybody, and in total. */
const loginLimits = { ofOne: 16, ofAll: 64 } as const;

/** What the routes of logins need. */
export interface LoginDependencies {
  /** The servers that users may log in to; the first unless they name another. */
  readonly clusters: readonly Upstream[];
  readonly sessions: Sessions;
  readonly cookies: SessionCookies;
  readonly oidc: OidcClient | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What the page learns about a session. */
  readonly shown: (session: ConsoleSession) => Promise<object>;
}

/** Logins, logouts, and who is logged in. */
export class LoginRoutes {
  private readonly logins = new UnderWay(loginLimits);

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

  private oidcHost(client: OidcClient) {
    const { clusters, cookies, clock, logger } = this.own;
    const [cluster] = clusters as readonly [Upstream];
    return {
      cookieOf: (request: FastifyRequest) => cookies.flowOf(request),
      sessionKeyOf,
      setCookie: (reply: FastifyReply, value: string, seconds: number) => cookies.setFlow(reply, value, seconds),
      begin: ({ ip }: FastifyRequest) => this.logins.begin(ip),
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
    // Each login sends two requests to the API server, for an unknown user.
    const end = this.logins.begin(request.ip);
    if (end === undefined) return tooMany(reply, 'too many logins at a time: try again');
    try {
      return await this.enter(cluster, readLogin(login), request, reply);
    } catch (error) {
      if (error instanceof LoginError) return refuse(reply, 400, error.message);
      throw error;
    } finally {
      end();
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
