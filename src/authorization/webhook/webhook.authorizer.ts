import { createHash } from 'node:crypto';
import type {
  AuthorizationDecision,
  Authorizer,
  AuthorizerAttributes,
  RuleList,
  RuleResolver,
} from '../../machinery/authorizer.js';
import type { Clock } from '../../machinery/clock.js';
import { internalError } from '../../machinery/status-error.js';
import { groupName, type VendorNames } from '../../machinery/vendor.js';
import { OutageLog, type OutageLogger } from '../../observability/outage-log.js';
import { DecisionCache } from './decision-cache.js';
import { reviewAnswer, reviewSpec, type SubjectAccessReviewVersion } from './review.js';

/** How the webhook is asked, and how long its answers hold (specification 5.4). */
export interface WebhookAuthorizerSettings {
  readonly version: SubjectAccessReviewVersion;
  /** Of answers that allow; 0: not kept. */
  readonly authorizedTtlMs: number;
  /** Of all other answers; 0: not kept. */
  readonly unauthorizedTtlMs: number;
  readonly maxCachedAnswers: number;
  /** For a question with all its attempts. */
  readonly totalTimeoutMs: number;
}

/** What the mode works with. */
export interface WebhookAuthorizerParts {
  readonly client: { post(value: unknown, signal: AbortSignal): Promise<unknown> };
  readonly names: VendorNames;
  readonly clock: Clock;
  readonly logger: OutageLogger & { warn(text: string, fields?: object): void };
}

/** Longer questions are not kept: paths and names are the client's choice, and every one would take a place. */
const maxCachedAttributes = 10_000;

const unknownRules: RuleList = Object.freeze({
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  evaluationError: 'webhook authorizer does not support user rule resolution',
});

/**
 * Mode `Webhook`: another server decides (specification 4.11, 5.4). Its answers are kept by all attributes of the
 * question, so nobody gets the answer of somebody else; equal questions that come together are asked once. A call that
 * brings no answer is an error, never kept, and opens nothing.
 */
export class WebhookAuthorizer implements Authorizer, RuleResolver {
  private readonly apiVersion: string;
  private readonly cache: DecisionCache;
  private readonly flights = new Map<string, Promise<AuthorizationDecision>>();
  private readonly outage: OutageLog;

  constructor(
    private readonly settings: WebhookAuthorizerSettings,
    private readonly parts: WebhookAuthorizerParts,
  ) {
    this.apiVersion = `${groupName('authorization', parts.names)}/${settings.version}`;
    this.cache = new DecisionCache(settings.maxCachedAnswers);
    this.outage = new OutageLog(parts.logger, {
      failed: 'the authorization webhook can not be asked',
      recovered: 'the authorization webhook answers again',
    });
  }

  authorize(attributes: AuthorizerAttributes): Promise<AuthorizationDecision> | AuthorizationDecision {
    const spec = reviewSpec(attributes, this.settings.version);
    // The text says everything the answer may depend on, so two questions have one key only when they are the same.
    const key = createHash('sha256').update(JSON.stringify(spec)).digest('base64');
    const known = this.cache.get(key, this.parts.clock.now());
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

  /** A webhook answers questions; what else it would allow it doesn't say. */
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
      answer = await this.parts.client.post(review, AbortSignal.timeout(this.settings.totalTimeoutMs));
    } catch (error) {
      throw this.failed((error as Error).message, error);
    }
    const read = reviewAnswer(answer);
    if (read === undefined) throw this.failed('it answers with something else than an access review');
    this.outage.worked();
    if (read.error !== '') this.parts.logger.warn('the authorization webhook has a problem', { problem: read.error });
    return read.decision;
  }

  private keep(key: string, decision: AuthorizationDecision): void {
    const { authorizedTtlMs, unauthorizedTtlMs } = this.settings;
    const ttlMs = decision.decision === 'allow' ? authorizedTtlMs : unauthorizedTtlMs;
    if (ttlMs > 0) this.cache.set(key, decision, this.parts.clock.now() + ttlMs);
  }

  /** What went wrong is for the log: the address of the webhook is nothing for clients. */
  private failed(problem: string, cause?: unknown): Error {
    this.outage.failed({ problem });
    return internalError(new Error('the authorization webhook did not answer', { cause }));
  }
}

function attributesLength(attributes: AuthorizerAttributes): number {
  const { namespace, verb, apiGroup, apiVersion, resource, subresource, name, path } = attributes;
  return [namespace, verb, apiGroup, apiVersion, resource, subresource, name, path].join('').length;
}
