import { Counter, type Registry } from 'prom-client';
import { type CountedSeries, SeriesCounter } from '../../base/observability/series-counter.js';
import { type LatencySeries, SeriesHistogram } from '../../base/observability/series-histogram.js';
import type { TokenUseCounters } from './service-account/service-account-token.authenticator.js';
import type { TokenCacheObserver } from './token-cache.js';
import { TokenCheckMetrics } from './token-check-metrics.js';

/** The outcome of a request's credentials. */
export type AttemptResult = 'success' | 'failure' | 'error';

/** Bounds from a millisecond on, each twice the previous one. */
const durationBounds = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);
/** Bounds of a certificate's remaining validity, in seconds: from half an hour to a year. */
const expirationBounds = [
  0, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000,
];
/** Users with a label of their own; other users are labelled only by their kind. */
const ownLabels = ['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default'];

/** Authentication metrics, under the names that operators of API servers know. */
export class AuthenticationMetrics implements TokenUseCounters, TokenCacheObserver {
  private readonly attempts: Readonly<Record<AttemptResult, CountedSeries>>;
  private readonly hits: CountedSeries;
  private readonly misses: CountedSeries;
  private readonly refused: Counter;
  private readonly durations: Readonly<Record<AttemptResult, LatencySeries>>;
  private readonly certificates: LatencySeries;
  /** By the value of the label. */
  private readonly users: ReadonlyMap<string, CountedSeries>;
  private readonly mailUsers: CountedSeries;
  private readonly otherUsers: CountedSeries;
  private readonly uses: ReturnType<typeof tokenUseCounters>;
  private readonly checks: TokenCheckMetrics;

  constructor(registry: Registry) {
    const registers = [registry];
    const attempts = new SeriesCounter(
      {
        name: 'authentication_attempts',
        help: 'Requests by what came of their credentials; anonymous ones are left out.',
        labelNames: ['result'],
      },
      registry,
    );
    this.attempts = {
      success: attempts.with({ result: 'success' }),
      failure: attempts.with({ result: 'failure' }),
      error: attempts.with({ result: 'error' }),
    };
    const cache = new SeriesCounter(
      {
        name: 'authentication_token_cache_request_total',
        help: 'Bearer tokens by whether their user was remembered.',
        labelNames: ['status'],
      },
      registry,
    );
    this.hits = cache.with({ status: 'hit' });
    this.misses = cache.with({ status: 'miss' });
    this.refused = new Counter({
      name: 'plinth_bootstrap_tokens_refused_total',
      help: 'Bootstrap tokens that were not looked up, because too many wrong ones had come from their address.',
      registers,
    });
    this.checks = new TokenCheckMetrics(registry);
    this.uses = tokenUseCounters(registers);
    const duration = 'authentication_duration_seconds';
    const durations = new SeriesHistogram(
      { name: duration, help: 'Time that authentication took, by its result.', labelNames: ['result'] },
      durationBounds,
      registry,
    );
    this.durations = {
      success: durations.with({ result: 'success' }),
      failure: durations.with({ result: 'failure' }),
      error: durations.with({ result: 'error' }),
    };
    this.certificates = new SeriesHistogram(
      {
        name: 'apiserver_client_certificate_expiration_seconds',
        help: 'How long the client certificates of requests were still valid.',
        labelNames: [],
      },
      expirationBounds,
      registry,
    ).with({});
    const users = new SeriesCounter(
      {
        name: 'authenticated_user_requests',
        help: 'Requests by their user, as far as it is one that every cluster has; otherwise email_id or other.',
        labelNames: ['username'],
      },
      registry,
    );
    this.users = new Map(ownLabels.map((username) => [username, users.with({ username })]));
    this.mailUsers = users.with({ username: 'email_id' });
    this.otherUsers = users.with({ username: 'other' });
  }

  /** A bootstrap token was not looked up because of wrong ones before. */
  refusedAttempt(): void {
    this.refused.inc();
  }

  /** Counts a request with credentials: accepted, refused, or `error` when the check itself failed. */
  attempt(result: AttemptResult, seconds: number): void {
    this.attempts[result].inc();
    this.durations[result].observe(seconds);
  }

  /** Counts the request of a user, who may be the anonymous one. */
  userRequest(name: string): void {
    const own = this.users.get(name);
    if (own !== undefined) own.inc();
    else if (name.includes('@')) this.mailUsers.inc();
    else this.otherUsers.inc();
  }

  /** Counts a request with an accepted certificate that is valid for the given number of seconds. */
  certificateUsed(secondsLeft: number): void {
    this.certificates.observe(secondsLeft);
  }

  lookup(hit: boolean): void {
    if (hit) this.hits.inc();
    else this.misses.inc();
  }

  checking(): (isDone: boolean) => void {
    return this.checks.begin();
  }

  validToken(): void {
    this.uses.valid.inc();
  }

  staleToken(): void {
    this.uses.stale.inc();
  }

  secretToken(): void {
    this.uses.secret.inc();
  }

  secretTokenMade(by: 'itself' | 'hand'): void {
    if (by === 'itself') this.uses.madeByItself.inc();
    else this.uses.madeByHand.inc();
  }

  invalidSecretToken(): void {
    this.uses.invalid.inc();
  }
}

/** Counters of service account tokens, by what they are and in which state. */
function tokenUseCounters(registers: Registry[]) {
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  return {
    valid: counter(
      'serviceaccount_valid_tokens_total',
      'Uses of service account tokens within the time that was asked for.',
    ),
    stale: counter(
      'serviceaccount_stale_tokens_total',
      'Uses of service account tokens that should have been read again before.',
    ),
    secret: counter('serviceaccount_legacy_tokens_total', 'Uses of service account tokens that are kept in secrets.'),
    madeByItself: counter(
      'serviceaccount_legacy_auto_token_uses_total',
      'Uses of tokens in secrets that their account lists, as those that were made for it by itself.',
    ),
    madeByHand: counter(
      'serviceaccount_legacy_manual_token_uses_total',
      'Uses of tokens in secrets that somebody made.',
    ),
    invalid: counter(
      'serviceaccount_invalid_legacy_auto_token_uses_total',
      'Uses of tokens in secrets that were marked invalid.',
    ),
  };
}
