import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../../base/machinery/clock.js';
import type { TokenAuthenticator, TokenIdentity, TokenResult } from './token-authenticator.js';

/** How long identities are cached, and how many. */
export interface TokenCacheLimits {
  readonly ttlMs: number;
  readonly maxEntries: number;
}

/** Receives the events of a token cache. */
export interface TokenCacheObserver {
  lookup(hit: boolean): void;
  /** A check of a token began; the returned function is called at its end, with whether it came to a result. */
  checking(): (isDone: boolean) => void;
}

/** A check that nobody waits for goes on for this long: its client may ask again, or ask and leave a thousand times. */
const abandonedMs = 1000;

const silent: TokenCacheObserver = { lookup: () => undefined, checking: () => () => undefined };

interface Entry {
  readonly key: string;
  readonly identity: TokenIdentity;
  readonly until: number;
}

interface Flight {
  readonly result: Promise<TokenResult>;
  readonly abort: AbortController;
  waiters: number;
  /** Runs while nobody waits. */
  abandoned: NodeJS.Timeout | undefined;
  /** Objects that changed since the check began. */
  readonly changed: Set<string>;
  missed: boolean;
}

/** Is asked before an unknown token is looked up. */
export interface UnknownTokenGuard<Request> {
  /** @throws StatusError when the request must not have a token looked up now */
  beforeLookup(request: Request, token: string): void;
}

/**
 * Caches for a short time which user a token belongs to, so a request of a known client costs only a keyed hash and a
 * look-up.
 *
 * - An entry expires after its time to live, with the token, or when an object changes that the result depends on:
 * `changed` names such objects, `missed` clears the cache.
 * - Only successes are cached: a token that becomes valid works at once, and bad tokens take no memory.
 * - Entries are found by a hash between two secrets of this process. Neither tokens nor plain hashes of them stay in
 * memory, and the time of a look-up reveals nothing about them.
 * - Concurrent requests with the same unknown token share one check. It is aborted when all of them have been gone for a
 * second.
 */
export class TokenCache implements TokenAuthenticator {
  private readonly firstSecret = randomBytes(32).toString('base64');
  private readonly lastSecret = randomBytes(32).toString('base64');
  private readonly entries = new Map<string, Entry>();
  private readonly byDependency = new Map<string, Set<Entry>>();
  private readonly flights = new Map<string, Flight>();

  constructor(
    private readonly inner: TokenAuthenticator,
    private readonly clock: Clock,
    private readonly limits: TokenCacheLimits,
    private readonly observer: TokenCacheObserver = silent,
  ) {}

  authenticateToken(
    token: string,
    audiences: readonly string[],
    signal: AbortSignal,
  ): Promise<TokenResult> | TokenResult {
    return this.authenticateFor({ signal }, token, audiences);
  }

  /** Like {@link authenticateToken}, for a request that creates its signal on demand: a cached token needs none. */
  authenticateFor<Request extends { readonly signal: AbortSignal }>(
    request: Request,
    token: string,
    audiences: readonly string[],
    guard?: UnknownTokenGuard<Request>,
  ): Promise<TokenResult> | TokenResult {
    const key = this.keyOf(token, audiences);
    const entry = this.entries.get(key);
    if (entry !== undefined) {
      if (this.clock.now() < entry.until) {
        this.observer.lookup(true);
        return entry.identity;
      }
      this.remove(entry);
    }
    this.observer.lookup(false);
    guard?.beforeLookup(request, token);
    return this.join(key, token, audiences, request.signal);
  }

  /** Called when an object changed: results that depend on it must be checked again. */
  changed(dependency: string): void {
    for (const flight of this.flights.values()) flight.changed.add(dependency);
    const entries = this.byDependency.get(dependency);
    if (entries !== undefined) for (const entry of [...entries]) this.remove(entry);
  }

  /** Called when changes may have been missed: clears the cache. */
  missed(): void {
    for (const flight of this.flights.values()) flight.missed = true;
    for (const entry of [...this.entries.values()]) if (entry.identity.dependsOn !== undefined) this.remove(entry);
  }

  get size(): number {
    return this.entries.size;
  }

  private async join(
    key: string,
    token: string,
    audiences: readonly string[],
    signal: AbortSignal,
  ): Promise<TokenResult> {
    signal.throwIfAborted();
    const flight = this.flights.get(key) ?? this.begin(key, token, audiences);
    flight.waiters++;
    clearTimeout(flight.abandoned);
    let leave: (() => void) | undefined;
    const gone = new Promise<never>((_, reject) => {
      leave = () => reject(signal.reason);
      signal.addEventListener('abort', leave, { once: true });
    });
    try {
      return await Promise.race([flight.result, gone]);
    } finally {
      if (leave !== undefined) signal.removeEventListener('abort', leave);
      if (--flight.waiters === 0 && this.flights.get(key) === flight) {
        flight.abandoned = setTimeout(() => this.abandon(key, flight), abandonedMs).unref();
      }
    }
  }

  private abandon(key: string, flight: Flight): void {
    this.flights.delete(key);
    flight.abort.abort();
  }

  private begin(key: string, token: string, audiences: readonly string[]): Flight {
    const abort = new AbortController();
    const checked = this.observer.checking();
    const flight: Flight = {
      result: Promise.resolve()
        .then(() => this.inner.authenticateToken(token, audiences, abort.signal))
        .then((result) => {
          if (result.kind === 'user') this.remember(key, result, flight);
          checked(true);
          return result;
        })
        .catch((error: unknown) => {
          checked(false);
          throw error;
        })
        .finally(() => {
          clearTimeout(flight.abandoned);
          if (this.flights.get(key) === flight) this.flights.delete(key);
        }),
      abort,
      waiters: 0,
      abandoned: undefined,
      changed: new Set(),
      missed: false,
    };
    // Waiting requests handle a failure; if there are none, it can be ignored.
    flight.result.catch(() => undefined);
    this.flights.set(key, flight);
    return flight;
  }

  private remember(key: string, identity: TokenIdentity, flight: Flight): void {
    const { dependsOn = [], expiresAt = Number.POSITIVE_INFINITY } = identity;
    const outdated = dependsOn.length > 0 && (flight.missed || dependsOn.some((name) => flight.changed.has(name)));
    if (outdated || flight.abort.signal.aborted) return;
    const entry: Entry = { key, identity, until: Math.min(this.clock.now() + this.limits.ttlMs, expiresAt) };
    const before = this.entries.get(key);
    if (before !== undefined) this.remove(before);
    this.entries.set(key, entry);
    for (const name of dependsOn) {
      const entries = this.byDependency.get(name);
      if (entries === undefined) this.byDependency.set(name, new Set([entry]));
      else entries.add(entry);
    }
    // All entries live equally long, so the oldest expires next.
    for (const oldest of this.entries.values()) {
      if (this.entries.size <= this.limits.maxEntries && oldest.until > this.clock.now()) break;
      this.remove(oldest);
    }
  }

  private remove(entry: Entry): void {
    if (this.entries.get(entry.key) === entry) this.entries.delete(entry.key);
    for (const name of entry.identity.dependsOn ?? []) {
      const entries = this.byDependency.get(name);
      entries?.delete(entry);
      if (entries?.size === 0) this.byDependency.delete(name);
    }
  }

  /**
   * `crypto.hash` costs a fraction of an HMAC object, and every request pays for it. A secret on both sides leaves nothing
   * to extend, and needs one hash where an HMAC needs two.
   */
  private keyOf(token: string, audiences: readonly string[]): string {
    let text = this.firstSecret;
    // Each audience is preceded by its length, so different requests never have the same key.
    for (const audience of audiences) text += `${audience.length}:${audience}`;
    return hash('sha256', `${text};${token}${this.lastSecret}`, 'base64');
  }
}
