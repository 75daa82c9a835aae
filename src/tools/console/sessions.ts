import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Agent } from 'node:https';
import type { Clock } from '../../base/machinery/clock.js';
import type { UserCredentials } from './login.js';
import type { OidcToken } from './oidc-token.js';
import type { SessionUser } from './session-user.js';
import { shareOf } from './share-of.js';
import { TooManySessions } from './too-many-sessions.js';
import type { Upstream } from './upstream.js';

/** The two secrets of a session; neither is enough alone. */
export interface SessionKeys {
  /** Kept in a cookie that no script can read, but that other ports of the same host may see. */
  readonly cookie: string;
  /** Known only to the scripts of this origin, which send it in a header. */
  readonly key: string;
}

/** Who logged in, where, and by what. */
export interface SessionLogin {
  readonly user: SessionUser;
  /** The one server that the credentials go to. */
  readonly upstream: Upstream;
  readonly agent: Agent;
  /** The suffix of the server's own groups. */
  readonly suffix: string;
  readonly credentials: UserCredentials;
  /** Where the credentials are those of a provider, which end sooner than the session. */
  readonly token?: OidcToken | undefined;
}

/** A logged-in user: the connections to the API server with that user's credentials, and nobody else's. */
export class ConsoleSession {
  readonly user: SessionUser;
  readonly upstream: Upstream;
  readonly agent: Agent;
  readonly suffix: string;
  /** Aborted when the session ends; so is everything that is under way for it. */
  readonly ended = new AbortController();
  /** The party whose limits the session counts against. */
  readonly share: string;

  constructor(
    private readonly login: SessionLogin,
    readonly keyHash: Buffer,
    readonly until: number,
  ) {
    this.user = login.user;
    this.upstream = login.upstream;
    this.agent = login.agent;
    this.suffix = login.suffix;
    this.share = shareOfLogin(login);
  }

  /** The header with the user's credentials, as of now. */
  get authorization(): string | undefined {
    return this.login.token?.authorization ?? this.login.credentials.authorization;
  }

  /** Replaces credentials that end soon. @throws OidcRefusal, OidcUnreachable */
  async renew(): Promise<void> {
    await this.login.token?.renew();
  }

  end(): void {
    this.ended.abort(new Error('the session has ended'));
    this.agent.destroy();
    this.login.token?.end();
  }
}

/** The party whose limits a login counts against. Equal names in two clusters are two users. */
function shareOfLogin({ user, upstream, credentials: { authorization, tls } }: SessionLogin): string {
  const share = shareOf(user, authorization ?? tls.cert ?? '');
  return upstream.name === '' ? share : `${upstream.name}\n${share}`;
}

/** The most sessions of one user, in all browsers; one more replaces the user's oldest. */
const mostOfUser = 20;
const mostSessions = 1000;
const keyBytes = 32;

/** The sessions of a console, in its memory: they end with the process. */
export class Sessions {
  private readonly byCookie = new Map<string, ConsoleSession>();

  constructor(
    private readonly clock: Clock,
    readonly lifetimeMs: number,
  ) {}

  /**
   * Opens a session. It replaces an older one only if that one belongs to the same user, or if all places are taken and
   * another user has more of them.
   *
   * @throws TooManySessions
   */
  open(login: SessionLogin): SessionKeys {
    this.dropOldest(shareOfLogin(login));
    const keys = { cookie: secret(), key: secret() };
    const until = Math.min(this.clock.now() + this.lifetimeMs, login.token?.endsAt ?? Number.POSITIVE_INFINITY);
    this.byCookie.set(hashOf(keys.cookie).toString('hex'), new ConsoleSession(login, hashOf(keys.key), until));
    return keys;
  }

  /** The session that both secrets belong to. */
  find({ cookie, key }: { readonly [Secret in keyof SessionKeys]?: string | undefined }): ConsoleSession | undefined {
    if (cookie === undefined || key === undefined) return undefined;
    const id = hashOf(cookie).toString('hex');
    const session = this.byCookie.get(id);
    if (session === undefined || !timingSafeEqual(session.keyHash, hashOf(key))) return undefined;
    if (this.clock.now() < session.until) return session;
    this.remove(id, session);
    return undefined;
  }

  /** Ends a session before its time. */
  close(session: ConsoleSession): void {
    for (const [id, one] of this.byCookie) if (one === session) this.remove(id, session);
  }

  /** Ends expired sessions, and what is under way for them. */
  expire(): void {
    const now = this.clock.now();
    for (const [id, session] of this.byCookie) if (now >= session.until) this.remove(id, session);
  }

  stop(): void {
    for (const [id, session] of this.byCookie) this.remove(id, session);
  }

  private dropOldest(share: string): void {
    this.expire();
    const shares = new Map<string, [id: string, session: ConsoleSession][]>();
    for (const entry of this.byCookie) {
      const own = shares.get(entry[1].share);
      if (own === undefined) shares.set(entry[1].share, [entry]);
      else own.push(entry);
    }
    const own = shares.get(share) ?? [];
    if (own.length >= mostOfUser) {
      for (const [id, session] of own.slice(0, own.length - mostOfUser + 1)) this.remove(id, session);
      return;
    }
    if (this.byCookie.size < mostSessions) return;
    const largest = [...shares.values()].reduce((most, next) => (next.length > most.length ? next : most), own);
    const [oldest] = largest;
    // A user with no more sessions than the newcomer would have keeps them.
    if (oldest === undefined || (largest !== own && largest.length <= own.length + 1)) {
      throw new TooManySessions('too many people are logged in to this console: try again later');
    }
    this.remove(...oldest);
  }

  private remove(id: string, session: ConsoleSession): void {
    this.byCookie.delete(id);
    session.end();
  }
}

function secret(): string {
  return randomBytes(keyBytes).toString('base64url');
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
