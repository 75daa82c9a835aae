import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../machinery/clock.js';
import type { UserInfo } from '../../machinery/request-context.js';
import { groupName, type VendorNames } from '../../machinery/vendor.js';
import { OutageLog, type OutageLogger } from '../../observability/outage-log.js';
import {
  intersectAudiences,
  rejectedToken,
  type TokenAuthenticator,
  type TokenResult,
  unknownToken,
} from '../token-authenticator.js';

/** Versions of the review that a webhook may be asked in. */
export type TokenReviewVersion = 'v1' | 'v1beta1';

/** How the webhook is asked, and how long its answers hold. */
export interface WebhookTokenSettings {
  readonly version: TokenReviewVersion;
  /** 0: answers are not kept. */
  readonly cacheTtlMs: number;
  /** Of each sort of answer. */
  readonly maxCachedAnswers: number;
  readonly apiAudiences: readonly string[];
}

/** What the method works with. */
export interface WebhookTokenParts {
  readonly client: { post(value: unknown, signal: AbortSignal): Promise<unknown> };
  readonly names: VendorNames;
  readonly clock: Clock;
  readonly logger: OutageLogger;
}

/**
 * Asks another server whose token it is (specification 4.11, 5.2). Its answers hold for the time to live, good and bad
 * ones alike; calls that brought no answer are not kept. A call that fails refuses the token: the server goes on with its
 * other methods while the webhook is away. The first failure is logged, and then the first answer again.
 *
 * Requests with one token that come together are joined by the cache in front of all methods.
 */
export class WebhookTokenAuthenticator implements TokenAuthenticator {
  private readonly secret = randomBytes(32);
  private readonly apiVersion: string;
  /** Apart, so that a flood of bad tokens never pushes out the good ones. */
  private readonly accepted: AnswerCache;
  private readonly refused: AnswerCache;
  private readonly outage: OutageLog;

  constructor(
    private readonly settings: WebhookTokenSettings,
    private readonly parts: WebhookTokenParts,
  ) {
    this.apiVersion = `${groupName('authentication', parts.names)}/${settings.version}`;
    this.accepted = new AnswerCache(settings);
    this.refused = new AnswerCache(settings);
    this.outage = new OutageLog(parts.logger, {
      failed: 'the webhook can not say whose token it is',
      recovered: 'the webhook says again whose tokens they are',
    });
  }

  async authenticateToken(token: string, audiences: readonly string[], signal: AbortSignal): Promise<TokenResult> {
    const key = this.keyOf(token, audiences);
    const now = this.parts.clock.now();
    const known = this.accepted.get(key, now) ?? this.refused.get(key, now);
    if (known !== undefined) return known;
    let answer: unknown;
    try {
      answer = await this.parts.client.post(this.review(token, audiences), signal);
    } catch (error) {
      signal.throwIfAborted();
      return this.failed((error as Error).message);
    }
    const status = reviewStatus(answer);
    if (status === undefined) return this.failed('the webhook answers with something else than a token review');
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
    // A webhook that knows nothing of audiences vouches for a token of this server.
    const given = status.audiences.length === 0 ? this.settings.apiAudiences : status.audiences;
    const audiences = intersectAudiences(asked, given);
    if (audiences.length === 0 && asked.length > 0) return unknownToken;
    // The cache in front would make an answer hold longer than it should.
    return { kind: 'user', user, audiences, expiresAt: this.parts.clock.now() + this.settings.cacheTtlMs };
  }

  private remember(key: string, result: TokenResult): TokenResult {
    const cache = result.kind === 'user' ? this.accepted : this.refused;
    cache.set(key, result, this.parts.clock.now());
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

/** Answers in the order they came, which is the order they end in. */
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

/** The status of a review; undefined for anything that isn't one, since half an identity must not be believed. */
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

/** A list of strings, empty when it is absent; undefined for anything else. */
function strings(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? [...(value as string[])] : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
