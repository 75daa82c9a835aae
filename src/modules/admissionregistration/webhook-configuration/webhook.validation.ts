import {
  duplicate,
  type FieldError,
  FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { isDns1035Label, isDns1123Subdomain } from '../../../base/machinery/names.js';
import { validateClientConfig } from '../../../objects/apis/admissionregistration/v1/webhook-client.validation.js';
import type {
  MutatingWebhook,
  ValidatingWebhook,
} from '../../../objects/apis/admissionregistration/v1/webhook-configuration.types.js';
import { validateLabelSelector } from '../../../objects/apis/meta/v1/validation/label-selector.validation.js';
import { ExpressionCheck } from '../expression-check.js';
import { validateRule } from './webhook-rules.validation.js';

/** Either kind of webhook; only mutating ones have a reinvocation policy. */
export type Webhook = ValidatingWebhook & Pick<MutatingWebhook, 'reinvocationPolicy'>;

/** The requirements of the served version; the older version is more tolerant. */
export interface WebhookRules {
  readonly sideEffects: readonly string[];
  /** Whether each name may occur only once, and at least one review version must be one that this server can send. */
  readonly isStrict: boolean;
}

export const strictRules: WebhookRules = { sideEffects: ['None', 'NoneOnDryRun'], isStrict: true };
export const tolerantRules: WebhookRules = {
  sideEffects: ['None', 'NoneOnDryRun', 'Some', 'Unknown'],
  isStrict: false,
};

/** Versions of AdmissionReview that this server sends. */
export const reviewVersions: readonly string[] = ['v1', 'v1beta1'];

const webhooksPath = FieldPath.of('webhooks');
const failurePolicies = ['Fail', 'Ignore'];
const matchPolicies = ['Equivalent', 'Exact'];
const reinvocationPolicies = ['IfNeeded', 'Never'];
const maxTimeoutSeconds = 30;

/** Validates the webhooks of a new configuration. */
export function validateWebhooks(webhooks: readonly Webhook[] | undefined, rules: WebhookRules): FieldError[] {
  const errors: FieldError[] = [];
  const check = new ExpressionCheck(errors, new Set(), 'webhook configuration');
  const names = new Set<string>();
  for (const [i, webhook] of (webhooks ?? []).entries()) {
    const path = webhooksPath.index(i);
    validateWebhook(webhook, rules, path, check);
    validateReviewVersions(webhook.admissionReviewVersions ?? [], path.child('admissionReviewVersions'), errors);
    if (rules.isStrict && names.has(webhook.name)) errors.push(duplicate(path.child('name'), webhook.name));
    names.add(webhook.name);
  }
  return errors;
}

/**
 * Validates the webhooks of a changed configuration. Faults that were tolerated before stay tolerated, so an old
 * object can still be relabelled.
 */
export function validateWebhooksUpdate(
  webhooks: readonly Webhook[] | undefined,
  old: readonly Webhook[] | undefined,
  rules: WebhookRules,
): FieldError[] {
  const before = old ?? [];
  const hadTolerated = before.some((w) => !strictRules.sideEffects.includes(w.sideEffects ?? ''));
  const oldNames = new Set(before.map((w) => w.name));
  const hadDuplicates = oldNames.size < before.length;
  const expressions = new Set(before.flatMap((w) => (w.matchConditions ?? []).map(({ expression }) => expression)));
  const errors: FieldError[] = [];
  const check = new ExpressionCheck(errors, expressions, 'webhook configuration');
  const hadKnownVersions = before.every((w) =>
    (w.admissionReviewVersions ?? []).some((v) => reviewVersions.includes(v)),
  );
  const names = new Set<string>();
  for (const [i, webhook] of (webhooks ?? []).entries()) {
    const path = webhooksPath.index(i);
    validateWebhook(webhook, hadTolerated ? tolerantRules : rules, path, check);
    if (hadKnownVersions) {
      validateReviewVersions(webhook.admissionReviewVersions ?? [], path.child('admissionReviewVersions'), errors);
    }
    const isRepeated = rules.isStrict && !hadDuplicates && names.has(webhook.name);
    if (isRepeated) errors.push(duplicate(path.child('name'), webhook.name));
    names.add(webhook.name);
  }
  return errors;
}

function validateWebhook(webhook: Webhook, rules: WebhookRules, path: FieldPath, check: ExpressionCheck): void {
  const { errors } = check;
  validateName(webhook.name, path.child('name'), errors);
  for (const [i, rule] of (webhook.rules ?? []).entries()) {
    errors.push(...validateRule(rule, path.child('rules').index(i)));
  }
  const { failurePolicy, matchPolicy, sideEffects, timeoutSeconds, reinvocationPolicy } = webhook;
  if (failurePolicy !== undefined && !failurePolicies.includes(failurePolicy)) {
    errors.push(notSupported(path.child('failurePolicy'), failurePolicy, failurePolicies));
  }
  if (matchPolicy !== undefined && !matchPolicies.includes(matchPolicy)) {
    errors.push(notSupported(path.child('matchPolicy'), matchPolicy, matchPolicies));
  }
  if (sideEffects === null || sideEffects === undefined) {
    errors.push(required(path.child('sideEffects'), `must specify one of ${rules.sideEffects.join(', ')}`));
  } else if (!rules.sideEffects.includes(sideEffects)) {
    errors.push(notSupported(path.child('sideEffects'), sideEffects, rules.sideEffects));
  }
  if (timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > maxTimeoutSeconds)) {
    const detail = `the timeout value must be between 1 and ${maxTimeoutSeconds} seconds`;
    errors.push(invalid(path.child('timeoutSeconds'), timeoutSeconds, detail));
  }
  errors.push(...validateLabelSelector(webhook.namespaceSelector, path.child('namespaceSelector')));
  errors.push(...validateLabelSelector(webhook.objectSelector, path.child('objectSelector')));
  errors.push(...validateClientConfig(webhook.clientConfig, path.child('clientConfig')));
  if (reinvocationPolicy !== undefined && !reinvocationPolicies.includes(reinvocationPolicy)) {
    errors.push(notSupported(path.child('reinvocationPolicy'), reinvocationPolicy, reinvocationPolicies));
  }
  check.checkConditions(webhook.matchConditions ?? [], path.child('matchConditions'));
}

function validateName(name: string, path: FieldPath, errors: FieldError[]): void {
  if (name === '') {
    errors.push(required(path));
    return;
  }
  const broken = isDns1123Subdomain(name);
  for (const m of broken) errors.push(invalid(path, name, m));
  if (broken.length === 0 && name.split('.').length < 3) {
    errors.push(invalid(path, name, 'should be a domain with at least three segments separated by dots'));
  }
}

function validateReviewVersions(versions: readonly string[], path: FieldPath, errors: FieldError[]): void {
  if (versions.length === 0) {
    errors.push(required(path, `must specify one of ${reviewVersions.join(', ')}`));
    return;
  }
  const seen = new Set<string>();
  for (const [i, version] of versions.entries()) {
    if (seen.has(version)) {
      errors.push(invalid(path.index(i), version, 'duplicate version'));
      continue;
    }
    seen.add(version);
    for (const m of isDns1035Label(version)) errors.push(invalid(path.index(i), version, m));
  }
  if (!reviewVersions.some((version) => seen.has(version))) {
    errors.push(invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`));
  }
}
