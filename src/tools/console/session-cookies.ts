import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieOf } from './guard.js';
import type { ConsoleSession, Sessions } from './sessions.js';
import type { Upstream } from './upstream.js';

/** The header with the second secret of a session. Pages of other origins can't send it without a preflight request. */
export const keyHeader = 'x-plinth-console';

/** Where browsers keep the first secret of their sessions: a cookie for each cluster, so that logins stand side by side. */
export class SessionCookies {
  private base = '';

  constructor(
    private readonly clusters: readonly Upstream[],
    private readonly sessions: Sessions,
    /** Whether browsers connect over TLS. */
    private readonly isSecure: boolean,
    /** The path below which browsers find the console; empty: none. */
    private readonly basePath: string,
  ) {}

  /**
   * Browsers send a cookie to every port of a host, and those with the prefix to every path: several consoles on one host need
   * cookies of different names.
   */
  listens(port: number): void {
    const name = `plinth-console-${port}${this.basePath.replaceAll('/', '.')}`;
    this.base = this.isSecure ? `__Host-${name}` : name;
  }

  /** The session that a cookie and the key belong to; of several sessions in a browser, the key chooses. */
  find(headers: IncomingHttpHeaders, key: string | undefined): ConsoleSession | undefined {
    if (key === undefined) return undefined;
    for (const cluster of this.clusters) {
      const session = this.sessions.find({ cookie: cookieOf(headers.cookie, this.nameOf(cluster)), key });
      if (session?.upstream === cluster) return session;
    }
    return undefined;
  }

  set(reply: FastifyReply, cluster: Upstream, value: string, seconds: number): void {
    reply.header('set-cookie', this.text(this.nameOf(cluster), value, seconds));
  }

  /** The cookie of a login that is under way at the provider. */
  flowOf({ headers }: FastifyRequest): string | undefined {
    return cookieOf(headers.cookie, this.flowName);
  }

  setFlow(reply: FastifyReply, value: string, seconds: number): void {
    reply.header('set-cookie', this.text(this.flowName, value, seconds));
  }

  private get flowName(): string {
    return `${this.base}-oidc`;
  }

  private nameOf(cluster: Upstream): string {
    const index = this.clusters.indexOf(cluster);
    return index === 0 ? this.base : `${this.base}-${index}`;
  }

  // The prefix of secure cookies requires the path /.
  private text(name: string, value: string, seconds: number): string {
    const secure = this.isSecure ? '; Secure' : '';
    return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`;
  }
}

/** The second secret that a request carries. */
export function sessionKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers[keyHeader];
  return typeof key === 'string' ? key : undefined;
}
