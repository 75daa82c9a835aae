import type { Authorizer } from '../../../base/machinery/authorizer.js';
import { forbiddenError } from '../../../base/machinery/status-error.js';
import { ReviewClient, type WebhookTransport } from '../../../base/outgoing/review-client.js';
import { WebhookFault } from '../../../base/outgoing/webhook-fault.js';
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../../../objects/apis/admissionregistration/v1/webhook-configuration.types.js';
import type { AdmissionAttributes } from '../attributes.js';
import { compileMatchConditions, type MatchConditions } from '../expressions/match-conditions.js';
import { type MatchAttributes, type MatchingDependencies, RequestMatcher } from '../matching/request-matcher.js';
import type { ResourceAndKind } from '../matching/resource-versions.js';
import type { VersionedObjects } from '../matching/versioned-objects.js';
import type { WebhookKind } from './review-answer.js';
import type { AdmissionReviewVersion } from './review-writer.js';
import { WebhookMistake } from './webhook-mistake.js';

export type WebhookConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;
/** A webhook of either kind. */
export type Webhook = Omit<MutatingWebhook, 'reinvocationPolicy'> &
  Partial<Pick<MutatingWebhook, 'reinvocationPolicy'>>;

const defaultTimeoutSeconds = 10;

/** The dependencies for preparing hooks. */
export interface AdmissionWebhookDependencies extends MatchingDependencies {
  readonly authorizer: Authorizer;
}

/** A prepared webhook. Servers before 1.28 can't report the user. */
export class AdmissionWebhook {
  readonly name: string;
  /** Whether calls without a usable response are ignored (failure policy `Ignore`, not `Fail`). */
  readonly isIgnored: boolean;
  readonly timeoutMs: number;
  /** Whether calls have no side effects, at least in dry runs. */
  readonly allowsDryRun: boolean;
  /** Whether the hook must be called again after later changes (`IfNeeded`). */
  readonly isReinvocable: boolean;
  /** The first of the hook's review versions that this server supports. */
  readonly version: AdmissionReviewVersion | undefined;
  private readonly matcher: RequestMatcher | Error;
  private readonly conditions: MatchConditions | undefined;

  constructor(
    readonly kind: WebhookKind,
    /** Name of the configuration object. */
    readonly configuration: string,
    /** Stays the same when the configuration changes, and differs from the ids of all other hooks of the kind. */
    readonly id: string,
    webhook: Webhook,
    /** The client, or the reason why there is none. */
    private readonly client: ReviewClient | Error,
    dependencies: AdmissionWebhookDependencies,
  ) {
    this.name = webhook.name;
    this.isIgnored = webhook.failurePolicy === 'Ignore';
    this.timeoutMs = (webhook.timeoutSeconds ?? defaultTimeoutSeconds) * 1000;
    this.allowsDryRun = webhook.sideEffects === 'None' || webhook.sideEffects === 'NoneOnDryRun';
    this.isReinvocable = webhook.reinvocationPolicy === 'IfNeeded';
    const versions: readonly string[] = webhook.admissionReviewVersions ?? [];
    this.version = versions.find((version) => version === 'v1' || version === 'v1beta1') as
      | AdmissionReviewVersion
      | undefined;
    this.matcher = attempt(() => new RequestMatcher({ ...webhook, rules: webhook.rules ?? [] }, dependencies));
    const { matchConditions = [] } = webhook;
    this.conditions =
      matchConditions.length === 0 ? undefined : compileMatchConditions(matchConditions, dependencies.authorizer);
  }

  /** The version and kind in which the hook expects a request; undefined when the request does not match. */
  match(attributes: MatchAttributes): ResourceAndKind | undefined | Promise<ResourceAndKind | undefined> {
    if (this.matcher instanceof Error) throw new WebhookMistake(this.matcher.message, this.matcher);
    return this.matcher.match(attributes);
  }

  /**
   * Whether a matching request fulfils the match conditions too. Undefined when there are none. A condition that can't
   * be evaluated excludes the hook if its failure policy is `Ignore`.
   *
   * @throws a StatusError (403) for such a condition if the failure policy is `Fail`
   */
  fulfils(
    attributes: AdmissionAttributes,
    matched: ResourceAndKind,
    objects: VersionedObjects,
  ): Promise<boolean> | undefined {
    return this.conditions === undefined ? undefined : this.evaluate(this.conditions, attributes, matched, objects);
  }

  private async evaluate(
    conditions: MatchConditions,
    attributes: AdmissionAttributes,
    matched: ResourceAndKind,
    objects: VersionedObjects,
  ): Promise<boolean> {
    const result = await conditions.matches({ attributes, ...matched, ...objects.as(matched) });
    if (typeof result === 'string') return result === 'match';
    if (this.isIgnored) return false;
    throw forbiddenError(attributes.resource, attributes.name, result.error);
  }

  /** Calls {@link ReviewClient.ask} within the time limit of the hook. */
  ask(write: () => Buffer, signal: AbortSignal): Promise<string> {
    if (this.client instanceof Error) {
      throw new WebhookFault(`could not get REST client: ${this.client.message}`, 0, this.client);
    }
    return this.client.ask(write, this.timeoutMs, signal).catch((error: unknown) => {
      throw unanswered(error);
    });
  }
}

/** Makes the error of a failed call, so that clients and dashboards can distinguish it from an unusable response. */
function unanswered(error: unknown): unknown {
  return error instanceof WebhookFault
    ? new WebhookFault(`failed to call webhook: ${error.message}`, error.status, error)
    : error;
}

function attempt<T>(make: () => T): T | Error {
  try {
    return make();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * Prepares the webhooks of configurations. Connections stay open when a configuration changes as long as the address
 * and the CA bundle of a hook stay the same, and are closed when a hook is removed.
 */
export class WebhookCompiler {
  private clients = new Map<string, ReviewClient>();

  constructor(
    private readonly kind: WebhookKind,
    private readonly dependencies: AdmissionWebhookDependencies & { readonly transport: WebhookTransport },
  ) {}

  /** @param configurations all existing ones */
  compile(configurations: readonly WebhookConfiguration[]): readonly AdmissionWebhook[] {
    const clients = new Map<string, ReviewClient>();
    const hooks = configurations.flatMap((configuration) => this.hooksOf(configuration, clients));
    for (const [key, client] of this.clients) if (!clients.has(key)) client.retire();
    this.clients = clients;
    return hooks;
  }

  /** Closes all connections as soon as no call uses them. */
  retire(): void {
    for (const client of this.clients.values()) client.retire();
  }

  private hooksOf(
    { metadata, webhooks }: WebhookConfiguration,
    clients: Map<string, ReviewClient>,
  ): AdmissionWebhook[] {
    const configuration = metadata.name ?? '';
    const timesSeen = new Map<string, number>();
    return ((webhooks ?? []) as readonly Webhook[]).map((webhook) => {
      const index = timesSeen.get(webhook.name) ?? 0;
      timesSeen.set(webhook.name, index + 1);
      const id = `${configuration}/${webhook.name}/${index}`;
      const client = this.clientOf(id, webhook, clients);
      return new AdmissionWebhook(this.kind, configuration, id, webhook, client, this.dependencies);
    });
  }

  private clientOf(id: string, { clientConfig }: Webhook, clients: Map<string, ReviewClient>): ReviewClient | Error {
    const key = `${id} ${JSON.stringify(clientConfig)}`;
    const client = this.clients.get(key) ?? attempt(() => new ReviewClient(clientConfig, this.dependencies.transport));
    if (!(client instanceof Error)) clients.set(key, client);
    return client;
  }
}
