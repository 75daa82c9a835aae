import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../../base/machinery/clock.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { OutageLog, type OutageLogger } from '../../../base/observability/outage-log.js';
import {
  intersectAudiences,
  rejectedToken,
  type TokenAuthenticator,
  type TokenResult,
  unknownToken,
} from '../token-authenticator.js';

/** Versions of the review that a webhook accepts. */
export type TokenReviewVersion = 'v1' | 'v1beta1';

/** How to call the webhook, and how long to cache its responses. */
export interface WebhookTokenSettings {
  readonly version: TokenReviewVersion;
  /** How long responses are cached; 0: not at all. */
  readonly cacheTtlMs: number;
  /** The limit for each of accepted and rejected tokens. */
  readonly maxCachedAnswers: number;
  readonly apiAudiences: readonly string[];
}

/** Dependencies of the method. */
export interface WebhookTokenDependencies {
  readonly client: { post(value: unknown, signal: AbortSignal): Promise<unknown> };
  readonly names: VendorNames;
  readonly clock: Clock;
  readonly logger: OutageLogger;
}

/**
 * Asks a webhook which user a token belongs to (specification 4.11, 5.2). Acceptances and rejections are cached for the
 * time to live; calls without a response are not cached. A failed call rejects the token: the server continues with its
 * other methods while the webhook is unreachable. The first failure is logged, and so is the first response after it.
 *
 * The cache in front of all methods merges concurrent requests with the same token.
 */
export class WebhookTokenAuthenticator implements TokenAuthenticator {
  private readonly secret = randomBytes(32);
  private readonly apiVersion: string;
  /** Two caches, so a flood of bad tokens never evicts the good ones. */
  private readonly accepted: AnswerCache;
  private readonly refused: AnswerCache;
  private readonly outage: OutageLog;

  constructor(
    private readonly settings: WebhookTokenSettings,
    private readonly dependencies: WebhookTokenDependencies,
  ) {
    this.apiVersion = `${groupName('authentication', dependencies.names)}/${settings.version}`;
    this.accepted = new AnswerCache(settings);
    this.refused = new AnswerCache(settings);
    this.outage = new OutageLog(dependencies.logger, {
      failed: 'the token webhook cannot be called',
      recovered: 'the token webhook answers again',
    });
  }

  async authenticateToken(token: string, audiences: readonly string[], signal: AbortSignal): Promise<TokenResult> {
    const key = this.keyOf(token, audiences);
    const now = this.dependencies.clock.now();
    const known = this.accepted.get(key, now) ?? this.refused.get(key, now);
    if (known !== undefined) return known;
    let answer: unknown;
    try {
      answer = await this.dependencies.client.post(this.review(token, audiences), signal);
    } catch (error) {
      signal.throwIfAborted();
      return this.failed((error as Error).message);
    }
    const status = reviewStatus(answer);
    if (status === undefined) return this.failed('the answer of the webhook is not a token review');
    this.outage.worked();
    return this.remember(key, this.resultOf(status, audiences));
  }

  private review(token: string, audiences: readonly string[]): object {
    return {
      kind: 'TokenReview',
      apiVersion: this.apiVersion,
      metadata: {},
      spec: { token, ...(audiences.length === 0 ? {} : { audiences }) },
      status: { user: {} },
    };
  }

  private resultOf(status: ReviewStatus, asked: readonly string[]): TokenResult {
    const { user, error } = status;
    if (user === undefined) return error === '' ? unknownToken : rejectedToken(error);
    // A webhook that does not know audiences accepts tokens for this server.
    const given = status.audiences.length === 0 ? this.settings.apiAudiences : status.audiences;
    const audiences = intersectAudiences(asked, given);
    if (audiences.length === 0 && asked.length > 0) return unknownToken;
    // Without an expiry, the cache in front would keep the result for longer.
    return { kind: 'user', user, audiences, expiresAt: this.dependencies.clock.now() + this.settings.cacheTtlMs };
  }

  private remember(key: string, result: TokenResult): TokenResult {
    const cache = result.kind === 'user' ? this.accepted : this.refused;
    cache.set(key, result, this.dependencies.clock.now());
    return result;
  }

  private failed(problem: string): TokenResult {
    this.outage.failed({ problem });
    return rejectedToken('the token could not be checked by the webhook');
  }

  private keyOf(token: string, audiences: readonly string[]): string {
    const hmac = createHmac('sha256', this.secret);
    for (const audience of audiences) hmac.update(`${audience.length}:${audience}`);
    return hmac.update(`;${token}`).digest('base64');
  }
}

/** Caches responses in the order of arrival, which is also the order of expiry. */
class AnswerCache {
  private readonly entries = new Map<string, { readonly result: TokenResult; readonly until: number }>();

  constructor(private readonly settings: Pick<WebhookTokenSettings, 'cacheTtlMs' | 'maxCachedAnswers'>) {}

  get(key: string, now: number): TokenResult | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined || now < entry.until) return entry?.result;
    this.entries.delete(key);
    return undefined;
  }

  set(key: string, result: TokenResult, now: number): void {
    const { cacheTtlMs, maxCachedAnswers } = this.settings;
    if (cacheTtlMs <= 0) return;
    this.entries.delete(key);
    this.entries.set(key, { result, until: now + cacheTtlMs });
    for (const [oldest, { until }] of this.entries) {
      if (this.entries.size <= maxCachedAnswers && now < until) break;
      this.entries.delete(oldest);
    }
  }
}

interface ReviewStatus {
  /** Undefined when the token is not accepted. */
  readonly user: UserInfo | undefined;
  readonly audiences: readonly string[];
  readonly error: string;
}

/** The status of a review; undefined for any other response, since an incomplete identity must not be trusted. */
function reviewStatus(answer: unknown): ReviewStatus | undefined {
  if (!isRecord(answer) || answer.kind !== 'TokenReview' || !isRecord(answer.status)) return undefined;
  const { authenticated = false, user = {}, audiences, error = '' } = answer.status;
  const listed = strings(audiences);
  if (typeof authenticated !== 'boolean' || typeof error !== 'string' || listed === undefined) return undefined;
  if (!authenticated) return { user: undefined, audiences: listed, error };
  const info = userOf(user);
  return info === undefined ? undefined : { user: info, audiences: listed, error };
}

function userOf(user: unknown): UserInfo | undefined {
  if (!isRecord(user)) return undefined;
  const { username, uid = '', extra } = user;
  const groups = strings(user.groups);
  const fields = extra ?? {};
  if (typeof username !== 'string' || username === '' || typeof uid !== 'string') return undefined;
  if (groups === undefined || !isRecord(fields)) return undefined;
  const entries: [string, readonly string[]][] = [];
  for (const [key, value] of Object.entries(fields)) {
    const values = strings(value);
    if (values === undefined) return undefined;
    entries.push([key, Object.freeze(values)]);
  }
  return Object.freeze({
    name: username,
    uid,
    groups: Object.freeze(groups),
    extra: Object.freeze(Object.fromEntries(entries)),
  });
}

/** A list of strings, empty when absent; undefined for any other value. */
function strings(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? [...(value as string[])] : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
