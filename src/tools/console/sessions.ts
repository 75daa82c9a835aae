import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Agent } from 'node:https';
import type { Clock } from '../../base/machinery/clock.js';
import type { ClientTls } from '../../base/outgoing/client-config.js';
import { tlsOptions } from '../../base/outgoing/tls-options.js';
import type { UserCredentials } from './login.js';
import type { SessionUser } from './session-user.js';
import { shareOf } from './share-of.js';

/** The two secrets of a session; neither is enough alone. */
export interface SessionKeys {
  /** Kept in a cookie that no script can read, but that other ports of the same host may see. */
  readonly cookie: string;
  /** Known only to the scripts of this origin, which send it in a header. */
  readonly key: string;
}

/** A logged-in user: the connections to the API server with that user's credentials, and nobody else's. */
export class ConsoleSession {
  /** Aborted when the session ends; so is everything that is under way for it. */
  readonly ended = new AbortController();
  /** The party whose limits the session counts against. */
  readonly share: string;

  constructor(
    readonly user: SessionUser,
    readonly agent: Agent,
    readonly authorization: string | undefined,
    readonly keyHash: Buffer,
    readonly until: number,
    /** Distinguishes users without a name. */
    credentials: string,
  ) {
    this.share = shareOf(user, credentials);
  }

  end(): void {
    this.ended.abort(new Error('the session has ended'));
    this.agent.destroy();
  }
}

/** The most sessions of one user, in all browsers; one more replaces the user's oldest. */
const mostOfUser = 20;
const mostSessions = 1000;
const keyBytes = 32;

/** There are as many sessions as allowed, and no user has so many that one of them could be replaced. */
export class TooManySessions extends Error {}

/** The sessions of a console, in its memory: they end with the process. */
export class Sessions {
  private readonly byCookie = new Map<string, ConsoleSession>();

  constructor(
    private readonly clock: Clock,
    readonly lifetimeMs: number,
  ) {}

  /** Connections of one user. */
  static agentFor(server: ClientTls, { tls }: UserCredentials): Agent {
    return new Agent({ keepAlive: true, ...tlsOptions({ ...server, cert: tls.cert, key: tls.key }) });
  }

  /**
   * Opens a session. It replaces an older one only if that one belongs to the same user, or if all places are taken and
   * another user has more of them.
   *
   * @throws TooManySessions
   */
  open(user: SessionUser, agent: Agent, { authorization, tls }: UserCredentials): SessionKeys {
    const credentials = authorization ?? tls.cert ?? '';
    this.dropOldest(shareOf(user, credentials));
    const keys = { cookie: secret(), key: secret() };
    const until = this.clock.now() + this.lifetimeMs;
    this.byCookie.set(
      hashOf(keys.cookie).toString('hex'),
      new ConsoleSession(user, agent, authorization, hashOf(keys.key), until, credentials),
    );
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

  close(keys: Partial<SessionKeys>): void {
    const session = this.find(keys);
    if (session !== undefined && keys.cookie !== undefined) this.remove(hashOf(keys.cookie).toString('hex'), session);
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
