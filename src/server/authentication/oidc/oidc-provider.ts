import { type CryptoKey, compactVerify, decodeProtectedHeader, importJWK, type JWK, type KeyObject } from 'jose';
import type { Delay } from '../../../base/config/file-poll.js';
import type { Clock } from '../../../base/machinery/clock.js';
import { TokenBucket } from '../../../base/machinery/token-bucket.js';
import { isRecord } from '../service-account/claims.js';
import type { HttpsGet } from './https-get.js';
import { SignatureError } from './signature-error.js';

/** Dependencies of a provider. */
export interface ProviderDependencies {
  readonly get: HttpsGet;
  readonly clock: Clock;
  readonly wait: Delay;
  readonly logger: { info(text: string, fields?: object): void; warn(text: string, fields?: object): void };
}

/** Rejects invalid UTF-8: all invalid bytes would decode to the same character and make different names equal. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const firstRetryMs = 1_000;
const lastRetryMs = 30_000;

/**
 * A token with an unknown key causes the keys to be read again, as the key may be new. The reads are limited: this many
 * in a row, then one per interval.
 */
const burst = 3;
const refillMs = 10_000;

/**
 * Maximum time for which keys are used without reading them again, so that removed keys stop working; the provider may
 * set a shorter one.
 */
const maxKeyAgeMs = 600_000;
const minKeyAgeMs = 30_000;
const maxKeys = 100;

type VerifyingKey = CryptoKey | KeyObject | Uint8Array;

/**
 * The keys of one OpenID Connect provider (OpenID Connect Discovery 1.0, RFC 7517).
 *
 * - `start` finds the provider in the background; until then, every token is rejected.
 * - A token with an unknown key causes another read of the keys, within a rate limit.
 * - While the provider is unreachable, the known keys stay in use.
 */
export class OidcProvider {
  private keySetUrl: string | undefined;
  private keys: readonly JWK[] | undefined;
  private readonly imported = new WeakMap<JWK, Map<string, Promise<VerifyingKey>>>();
  private freshUntil = 0;
  private readonly reads = new TokenBucket(1000 / refillMs, burst);
  private reading: Promise<void> | undefined;
  private whenReady: (() => void)[] = [];
  private loop: Promise<void> | undefined;
  private stop: AbortSignal = new AbortController().signal;

  constructor(
    readonly issuer: string,
    private readonly algorithms: readonly string[],
    private readonly dependencies: ProviderDependencies,
    /** Address of the configuration, if it is not below the issuer's own address. */
    private readonly discoveryUrl?: string,
  ) {}

  /** Retries until the provider is found or the signal is aborted. */
  start(signal: AbortSignal): void {
    this.stop = signal;
    this.loop = this.find(signal);
  }

  /** Resolves when all background work has ended after the signal is aborted. */
  async stopped(): Promise<void> {
    await this.loop;
    await this.reading?.catch(() => undefined);
  }

  /** Resolves once the keys are known; rejects when the signal is aborted before that. */
  async ready(signal: AbortSignal): Promise<void> {
    if (this.isReady) return;
    await new Promise<void>((resolve, reject) => {
      const abort = () => reject(signal.reason as Error);
      this.whenReady.push(() => {
        signal.removeEventListener('abort', abort);
        resolve();
      });
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** Whether the provider's keys are known. */
  get isReady(): boolean {
    return this.keys !== undefined;
  }

  /** Reads the configuration and the keys once. Throws when that fails. */
  async discover(signal: AbortSignal): Promise<void> {
    const base = this.issuer.replace(/\/+$/, '');
    const url = this.discoveryUrl ?? `${base}/.well-known/openid-configuration`;
    const { body } = await this.dependencies.get(url, signal);
    const found = parseObject(body);
    if (found?.issuer !== this.issuer) throw new Error('the configuration of the provider names another issuer');
    if (typeof found.jwks_uri !== 'string')
      throw new Error('the configuration of the provider does not name the address of its keys');
    this.keySetUrl = found.jwks_uri;
    await this.readKeys(signal);
  }

  /** The claims of a signed token. Throws {@link SignatureError} when no key of the provider verifies it. */
  async verify(token: string): Promise<Readonly<Record<string, unknown>>> {
    const { alg = '', kid } = headerOf(token);
    if (!this.algorithms.includes(alg))
      throw new SignatureError('the token is signed with an algorithm that is not accepted');
    if (this.keys === undefined) throw new SignatureError('the keys of the provider are not known yet');
    // Removed keys must stop working, so read the keys again. Nothing waits for this read, so an unreachable provider
    // does no harm.
    if (this.dependencies.clock.now() >= this.freshUntil) void this.refresh().catch(() => undefined);
    const claims = await this.tryKeys(token, alg, kid);
    if (claims !== undefined) return claims;
    const isKnownKey = kid !== undefined && this.keys.some((key) => key.kid === kid);
    if (!isKnownKey) {
      await this.refresh().catch(() => undefined);
      const again = await this.tryKeys(token, alg, kid);
      if (again !== undefined) return again;
    }
    throw new SignatureError('no key of the provider fits the signature of the token');
  }

  private async find(signal: AbortSignal): Promise<void> {
    for (let waitMs = firstRetryMs; !signal.aborted; waitMs = Math.min(2 * waitMs, lastRetryMs)) {
      try {
        await this.discover(signal);
        this.dependencies.logger.info('ID tokens of the provider are accepted', { issuer: this.issuer });
        return;
      } catch (error) {
        if (signal.aborted) return;
        const fields = { issuer: this.issuer, problem: (error as Error).message, retryMs: waitMs };
        this.dependencies.logger.warn('ID tokens are refused: the provider is not reachable', fields);
        await this.dependencies.wait(waitMs, signal).catch(() => undefined);
      }
    }
  }

  /** Reads the keys again, within the rate limit. Concurrent callers share one read. */
  private refresh(): Promise<void> {
    if (this.reading !== undefined) return this.reading;
    if (this.stop.aborted || !this.reads.tryTake(this.dependencies.clock.now())) return Promise.resolve();
    const reading = this.readKeys(this.stop)
      .catch((error: Error) => {
        const fields = { issuer: this.issuer, problem: error.message };
        this.dependencies.logger.warn(
          'the keys of the provider cannot be read again; the known keys stay in use',
          fields,
        );
        throw error;
      })
      .finally(() => {
        this.reading = undefined;
      });
    this.reading = reading;
    return reading;
  }

  private async readKeys(signal: AbortSignal): Promise<void> {
    const { body, maxAgeSeconds = Number.POSITIVE_INFINITY } = await this.dependencies.get(
      this.keySetUrl ?? '',
      signal,
    );
    const keys = parseObject(body)?.keys;
    if (!Array.isArray(keys)) throw new Error('the answer of the provider is not a key set');
    this.keys = keys.filter((key): key is JWK => isRecord(key) && typeof key.kty === 'string').slice(0, maxKeys);
    const ageMs = Math.max(minKeyAgeMs, Math.min(maxKeyAgeMs, maxAgeSeconds * 1000));
    this.freshUntil = this.dependencies.clock.now() + ageMs;
    for (const resolve of this.whenReady.splice(0)) resolve();
  }

  private async tryKeys(
    token: string,
    alg: string,
    kid: string | undefined,
  ): Promise<Record<string, unknown> | undefined> {
    for (const jwk of this.keys ?? []) {
      if ((kid !== undefined && jwk.kid !== kid) || !fits(jwk, alg)) continue;
      try {
        const { payload } = await compactVerify(token, await this.keyOf(jwk, alg), { algorithms: [alg] });
        return parseObject(utf8.decode(payload));
      } catch {
        // Another key may have signed the token.
      }
    }
    return undefined;
  }

  private keyOf(jwk: JWK, alg: string): Promise<VerifyingKey> {
    let byAlgorithm = this.imported.get(jwk);
    if (byAlgorithm === undefined) {
      byAlgorithm = new Map();
      this.imported.set(jwk, byAlgorithm);
    }
    let key = byAlgorithm.get(alg);
    if (key === undefined) {
      key = importJWK(jwk, alg);
      byAlgorithm.set(alg, key);
    }
    return key;
  }
}

/**
 * Whether a key may verify this algorithm. A key serves one kind of algorithm, so a public key can never be used as a
 * shared secret.
 */
function fits(jwk: JWK, alg: string): boolean {
  if (jwk.use !== undefined && jwk.use !== 'sig') return false;
  if (jwk.alg !== undefined && jwk.alg !== alg) return false;
  return alg.startsWith('ES') ? jwk.kty === 'EC' : jwk.kty === 'RSA';
}

function headerOf(token: string): { alg?: string; kid?: string | undefined } {
  try {
    return decodeProtectedHeader(token) as { alg?: string; kid?: string };
  } catch {
    throw new SignatureError('the token has no readable header');
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  const value: unknown = JSON.parse(text);
  return isRecord(value) ? value : undefined;
}
