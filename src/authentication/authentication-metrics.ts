import { Counter, type Registry } from 'prom-client';
import type { TokenUseCounters } from './service-account/service-account-token.authenticator.js';

/** Counters of authentication, under the names that operators of such servers know. */
export class AuthenticationMetrics implements TokenUseCounters {
  private readonly attempts: Counter<'result'>;
  private readonly cache: Counter<'status'>;
  private readonly valid: Counter;
  private readonly stale: Counter;
  private readonly secret: Counter;
  private readonly success: ReturnType<Counter<'result'>['labels']>;
  private readonly hit: ReturnType<Counter<'status'>['labels']>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.attempts = new Counter({
      name: 'authentication_attempts',
      help: 'Requests by what came of their credentials; anonymous ones are left out.',
      labelNames: ['result'],
      registers,
    });
    this.cache = new Counter({
      name: 'authentication_token_cache_request_total',
      help: 'Bearer tokens by whether their user was remembered.',
      labelNames: ['status'],
      registers,
    });
    this.valid = new Counter({
      name: 'serviceaccount_valid_tokens_total',
      help: 'Uses of service account tokens within the time that was asked for.',
      registers,
    });
    this.stale = new Counter({
      name: 'serviceaccount_stale_tokens_total',
      help: 'Uses of service account tokens that should have been read again before.',
      registers,
    });
    this.secret = new Counter({
      name: 'serviceaccount_legacy_tokens_total',
      help: 'Uses of service account tokens that are kept in secrets.',
      registers,
    });
    this.success = this.attempts.labels('success');
    this.hit = this.cache.labels('hit');
  }

  /** Counts a request with credentials: accepted, refused, or `error` when the check itself failed. */
  attempt(result: 'success' | 'failure' | 'error'): void {
    if (result === 'success') this.success.inc();
    else this.attempts.inc({ result });
  }

  cacheLookup(hit: boolean): void {
    if (hit) this.hit.inc();
    else this.cache.inc({ status: 'miss' });
  }

  validToken(): void {
    this.valid.inc();
  }

  staleToken(): void {
    this.stale.inc();
  }

  secretToken(): void {
    this.secret.inc();
  }
}
