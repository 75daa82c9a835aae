import { createHash } from 'node:crypto';
import type {
  AuthorizationDecision,
  Authorizer,
  AuthorizerAttributes,
  RuleList,
  RuleResolver,
} from '../../../base/machinery/authorizer.js';
import type { Clock } from '../../../base/machinery/clock.js';
import { internalError } from '../../../base/machinery/status-error.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { OutageLog, type OutageLogger } from '../../../base/observability/outage-log.js';
import { DecisionCache } from './decision-cache.js';
import { reviewAnswer, reviewSpec, type SubjectAccessReviewVersion } from './review.js';

/** How to call the webhook, and how long to cache its responses (specification 5.4). */
export interface WebhookAuthorizerSettings {
  readonly version: SubjectAccessReviewVersion;
  /** How long to cache decisions that allow; 0: not cached. */
  readonly authorizedTtlMs: number;
  /** How long to cache all other decisions; 0: not cached. */
  readonly unauthorizedTtlMs: number;
  readonly maxCachedAnswers: number;
  /** The time limit for one review, including all attempts. */
  readonly totalTimeoutMs: number;
}

/** Dependencies of the mode. */
export interface WebhookAuthorizerDependencies {
  readonly client: { post(value: unknown, signal: AbortSignal): Promise<unknown> };
  readonly names: VendorNames;
  readonly clock: Clock;
  readonly logger: OutageLogger & { warn(text: string, fields?: object): void };
}

/** Longer reviews are not cached: clients choose paths and names, and each review would take space. */
const maxCachedAttributes = 10_000;

const unknownRules: RuleList = Object.freeze({
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  evaluationError: 'webhook authorizer does not support user rule resolution',
});

/**
 * Mode `Webhook`: another server decides (specification 4.11, 5.4). Decisions are cached by all attributes of the
 * request, so no user gets another user's decision. Concurrent equal reviews are sent once. A call without a response
 * is an error; it is never cached and allows nothing.
 */
export class WebhookAuthorizer implements Authorizer, RuleResolver {
  private readonly apiVersion: string;
  private readonly cache: DecisionCache;
  private readonly flights = new Map<string, Promise<AuthorizationDecision>>();
  private readonly outage: OutageLog;

  constructor(
    private readonly settings: WebhookAuthorizerSettings,
    private readonly dependencies: WebhookAuthorizerDependencies,
  ) {
    this.apiVersion = `${groupName('authorization', dependencies.names)}/${settings.version}`;
    this.cache = new DecisionCache(settings.maxCachedAnswers);
    this.outage = new OutageLog(dependencies.logger, {
      failed: 'the authorization webhook cannot be called',
      recovered: 'the authorization webhook answers again',
    });
  }

  authorize(attributes: AuthorizerAttributes): Promise<AuthorizationDecision> | AuthorizationDecision {
    const spec = reviewSpec(attributes, this.settings.version);
    // The key covers everything that the response may depend on, so only equal reviews share a key.
    const key = createHash('sha256').update(JSON.stringify(spec)).digest('base64');
    const known = this.cache.get(key, this.dependencies.clock.now());
    if (known !== undefined) return known;
    const underWay = this.flights.get(key);
    if (underWay !== undefined) return underWay;
    const flight = this.ask(spec).then((decision) => {
      if (attributesLength(attributes) < maxCachedAttributes) this.keep(key, decision);
      return decision;
    });
    const done = () => this.flights.delete(key);
    flight.then(done, done);
    this.flights.set(key, flight);
    return flight;
  }

  /** A webhook only decides on single requests; it can't list its rules. */
  rulesFor(): RuleList {
    return unknownRules;
  }

  private async ask(spec: object): Promise<AuthorizationDecision> {
    const review = {
      kind: 'SubjectAccessReview',
      apiVersion: this.apiVersion,
      metadata: {},
      spec,
      status: { allowed: false },
    };
    let answer: unknown;
    try {
      answer = await this.dependencies.client.post(review, AbortSignal.timeout(this.settings.totalTimeoutMs));
    } catch (error) {
      throw this.failed((error as Error).message, error);
    }
    const read = reviewAnswer(answer);
    if (read === undefined) throw this.failed('its answer is not an access review');
    this.outage.worked();
    if (read.error !== '')
      this.dependencies.logger.warn('the authorization webhook has a problem', { problem: read.error });
    return read.decision;
  }

  private keep(key: string, decision: AuthorizationDecision): void {
    const { authorizedTtlMs, unauthorizedTtlMs } = this.settings;
    const ttlMs = decision.decision === 'allow' ? authorizedTtlMs : unauthorizedTtlMs;
    if (ttlMs > 0) this.cache.set(key, decision, this.dependencies.clock.now() + ttlMs);
  }

  /** The problem is only logged: clients must not learn the webhook's address. */
  private failed(problem: string, cause?: unknown): Error {
    this.outage.failed({ problem });
    return internalError(new Error('the authorization webhook did not answer', { cause }));
  }
}

function attributesLength(attributes: AuthorizerAttributes): number {
  const { namespace, verb, apiGroup, apiVersion, resource, subresource, name, path } = attributes;
  const { fields = '', labels = '' } = attributes.selectors ?? {};
  // Requests have selectors as strings; access reviews have lists of requirements, which can be just as long.
  const selectors = [fields, labels].map((part) => (typeof part === 'string' ? part : requirementsText(part)));
  return [namespace, verb, apiGroup, apiVersion, resource, subresource, name, path, ...selectors].join('').length;
}

function requirementsText(requirements: readonly object[]): string {
  return JSON.stringify(requirements, (_key, value: unknown) => (value instanceof Set ? [...value] : value));
}
