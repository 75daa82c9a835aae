import type { Webhook } from './webhook.validation.js';

/** A webhook as decoded, in either served version. */
type DecodedWebhook = Omit<Webhook, 'sideEffects'> & { sideEffects?: Webhook['sideEffects'] };

interface VersionDefaults {
  readonly failurePolicy: string;
  readonly matchPolicy: string;
  readonly timeoutSeconds: number;
  readonly sideEffects?: string;
  readonly admissionReviewVersions?: readonly string[];
}

const v1Defaults: VersionDefaults = { failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10 };
const v1beta1Defaults: VersionDefaults = {
  failurePolicy: 'Ignore',
  matchPolicy: 'Exact',
  timeoutSeconds: 30,
  sideEffects: 'Unknown',
  admissionReviewVersions: ['v1beta1'],
};

/** Defaults of webhooks that arrive as v1. */
export function applyV1Defaults(webhooks: readonly DecodedWebhook[] | undefined, isMutating: boolean): void {
  for (const webhook of webhooks ?? []) applyDefaults(webhook, v1Defaults, isMutating);
}

/** Defaults of webhooks that arrive as v1beta1. */
export function applyV1beta1WebhookDefaults(
  webhooks: readonly DecodedWebhook[] | undefined,
  isMutating: boolean,
): void {
  for (const webhook of webhooks ?? []) applyDefaults(webhook, v1beta1Defaults, isMutating);
}

function applyDefaults(webhook: DecodedWebhook, defaults: VersionDefaults, isMutating: boolean): void {
  webhook.failurePolicy ??= defaults.failurePolicy;
  webhook.matchPolicy ??= defaults.matchPolicy;
  webhook.namespaceSelector ??= {};
  webhook.objectSelector ??= {};
  webhook.timeoutSeconds ??= defaults.timeoutSeconds;
  if (defaults.sideEffects !== undefined) webhook.sideEffects ??= defaults.sideEffects;
  if (defaults.admissionReviewVersions !== undefined && (webhook.admissionReviewVersions ?? []).length === 0) {
    webhook.admissionReviewVersions = [...defaults.admissionReviewVersions];
  }
  if (isMutating) webhook.reinvocationPolicy ??= 'Never';
  if (webhook.clientConfig.service !== undefined) webhook.clientConfig.service.port ??= 443;
  for (const rule of webhook.rules ?? []) rule.scope ??= '*';
}
