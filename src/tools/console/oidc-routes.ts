import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../../base/observability/logger.js';
import { OidcClient, type OidcTokens } from './oidc-client.js';
import { type FlowKeys, flowMs, type OidcFlows } from './oidc-flow.js';
import { OidcRefusal } from './oidc-refusal.js';
import { OidcUnreachable } from './oidc-unreachable.js';
import { refuse } from './refuse.js';
import { tooMany } from './too-many.js';

/** Where the provider sends browsers back to; the whole address is to be registered there. */
export const oidcCallbackPath = '/console/oidc/callback';

/** What the routes need of the console. */
export interface OidcHost {
  /** The path below which browsers find the console; empty: none. */
  readonly basePath: string;
  readonly cookieOf: (request: FastifyRequest) => string | undefined;
  readonly sessionKeyOf: (request: FastifyRequest) => string | undefined;
  readonly setCookie: (reply: FastifyReply, value: string, seconds: number) => void;
  /** Logs in with the credentials, and answers. */
  readonly enter: (request: FastifyRequest, reply: FastifyReply, tokens: OidcTokens) => Promise<FastifyReply>;
  /** Waits for the turn of one more login; undefined when there are too many. */
  readonly begin: (request: FastifyRequest, reply: FastifyReply) => Promise<(() => void) | undefined>;
}

/**
 * Logins by an OpenID Connect provider. The page begins one, goes to the provider, comes back as itself, and hands over
 * what the provider said. Each login needs the cookie and the page's key of its beginning, so nobody can make a browser
 * finish a login that it has not begun.
 */
export class OidcRoutes {
  constructor(
    private readonly client: OidcClient,
    private readonly flows: OidcFlows,
    private readonly host: OidcHost,
    private readonly logger: Logger,
  ) {}

  addTo(app: FastifyInstance): void {
    app.post('/console/oidc/begin', (request, reply) =>
      this.counted(request, reply, async () => {
        // Checked before: it is one of the console's own.
        const redirectUri = `${request.headers.origin}${this.host.basePath}${oidcCallbackPath}`;
        const checks = OidcClient.newChecks(redirectUri);
        const url = await this.client.loginUrl(checks);
        const { cookie, key } = await this.flows.begin(checks);
        this.host.setCookie(reply, cookie, flowMs / 1000);
        return reply.header('cache-control', 'no-store').send({ url, key });
      }),
    );
    app.post('/console/oidc/finish', (request, reply) =>
      this.counted(request, reply, async () => {
        const { answer } = (request.body ?? {}) as { answer?: unknown };
        if (typeof answer !== 'string') return refuse(reply, 400, 'answer must be a text');
        // One answer for each beginning, whatever comes of it.
        this.host.setCookie(reply, '', 0);
        const checks = await this.flows.find(this.keysOf(request));
        if (checks === undefined)
          return refuse(reply, 400, 'this login has not begun here, or took too long: try again');
        return this.host.enter(request, reply, await this.client.tokens(answer, checks));
      }),
    );
  }

  private keysOf(request: FastifyRequest): Partial<FlowKeys> {
    const [cookie, key] = [this.host.cookieOf(request), this.host.sessionKeyOf(request)];
    return { ...(cookie === undefined ? {} : { cookie }), ...(key === undefined ? {} : { key }) };
  }

  private async counted(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: () => Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    const end = await this.host.begin(request, reply);
    if (end === undefined) return tooMany(reply, 'too many logins at a time: try again');
    try {
      return await answer();
    } catch (error) {
      if (!(error instanceof OidcRefusal) && !(error instanceof OidcUnreachable)) throw error;
      this.logger.warn('a login by the provider failed', { reason: error.message });
      const isRefusal = error instanceof OidcRefusal;
      const text = isRefusal ? 'the login is not accepted' : 'the provider does not answer as it should';
      return refuse(reply, isRefusal ? 401 : 502, `${text}: ${error.message}`);
    } finally {
      end();
    }
  }
}
