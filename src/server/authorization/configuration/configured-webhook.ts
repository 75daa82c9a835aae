import type {
  AuthorizationDecision,
  Authorizer,
  AuthorizerAttributes,
  RuleList,
  RuleResolver,
} from '../../../base/machinery/authorizer.js';
import type { Clock } from '../../../base/machinery/clock.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { WebhookClient } from '../../../base/outgoing/webhook-client.js';
import { WebhookAuthorizer, type WebhookAuthorizerDependencies } from '../webhook/webhook.authorizer.js';
import type { WebhookSettings } from './authorization-document.js';
import type { AuthorizerMetrics } from './authorizer-metrics.js';
import { matchConditions } from './request-conditions.js';

const maxCachedAnswers = 8192;
const notAsked: AuthorizationDecision = Object.freeze({ decision: 'noOpinion', reason: '' });
const failedDeny: AuthorizationDecision = Object.freeze({ decision: 'deny', reason: '' });

/** Dependencies of a configured webhook. */
export interface ConfiguredWebhookDependencies {
  readonly names: VendorNames;
  readonly clock: Clock;
  readonly logger: WebhookAuthorizerDependencies['logger'];
  readonly metrics: Pick<AuthorizerMetrics, 'conditionFailed' | 'excluded' | 'failedOpen'>;
}

/**
 * A webhook of `--authorization-config`: it is called only for requests that meet its conditions, and its failure
 * policy decides if a review gets no response.
 */
export class ConfiguredWebhook implements Authorizer, RuleResolver {
  private readonly client: WebhookClient;
  private readonly inner: WebhookAuthorizer;

  constructor(
    readonly settings: WebhookSettings,
    private readonly dependencies: ConfiguredWebhookDependencies,
  ) {
    this.client = new WebhookClient(settings.connection);
    const { version, authorizedTtlMs, unauthorizedTtlMs, timeoutMs: totalTimeoutMs } = settings;
    this.inner = new WebhookAuthorizer(
      { version, authorizedTtlMs, unauthorizedTtlMs, totalTimeoutMs, maxCachedAnswers },
      { ...dependencies, client: this.client },
    );
  }

  authorize(attributes: AuthorizerAttributes): Promise<AuthorizationDecision> | AuthorizationDecision {
    const { conditions, name } = this.settings;
    const result = matchConditions(conditions, attributes);
    if ('error' in result) {
      this.dependencies.metrics.conditionFailed(name);
      return this.failed();
    }
    if (!result.matches) {
      this.dependencies.metrics.excluded(name);
      return notAsked;
    }
    const asked = this.inner.authorize(attributes);
    return asked instanceof Promise ? asked.catch(() => this.failed()) : asked;
  }

  /** A webhook only decides on single requests; it can't list its rules. */
  rulesFor(): RuleList {
    return this.inner.rulesFor();
  }

  /** Aborts calls in progress and closes all connections. */
  stop(): void {
    this.client.stop();
  }

  /** The reason is in the log. */
  private failed(): AuthorizationDecision {
    if (this.settings.failurePolicy === 'Deny') return failedDeny;
    this.dependencies.metrics.failedOpen(this.settings.name);
    return notAsked;
  }
}
