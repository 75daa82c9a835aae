import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { isDns1035Label } from '../../../base/machinery/names.js';
import { validateClientConfig } from '../../../objects/apis/admissionregistration/v1/webhook-client.validation.js';
import type { CustomResourceConversion } from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';

const strategies: readonly string[] = ['None', 'Webhook'];

/** Versions of ConversionReview that this server sends. */
export const conversionReviewVersions: readonly string[] = ['v1', 'v1beta1'];

/**
 * Validates the conversion between versions. Errors name the fields as clients know them from older versions of this
 * API.
 *
 * @param needsKnownVersion whether the hook must understand a review that this server sends
 */
export function conversionErrors(
  conversion: CustomResourceConversion,
  path: FieldPath,
  needsKnownVersion: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  const { strategy, webhook } = conversion;
  if (strategy === ('' as string)) errors.push(required(path.child('strategy')));
  else if (!strategies.includes(strategy)) errors.push(notSupported(path.child('strategy'), strategy, strategies));
  const configPath = path.child('webhookClientConfig');
  const versionsPath = path.child('conversionReviewVersions');
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    if (webhook?.clientConfig !== undefined) errors.push(forbidden(configPath, detail));
    if (versions.length > 0) errors.push(forbidden(versionsPath, detail));
    return errors;
  }
  if (webhook?.clientConfig === undefined) {
    errors.push(required(configPath, 'required when strategy is set to Webhook'));
  } else {
    errors.push(...validateClientConfig(webhook.clientConfig, configPath));
  }
  if (versions.length === 0) errors.push(required(versionsPath));
  else errors.push(...reviewVersionsErrors(versions, versionsPath, needsKnownVersion));
  return errors;
}

function reviewVersionsErrors(versions: readonly string[], path: FieldPath, needsKnown: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, version] of versions.entries()) {
    if (seen.has(version)) {
      errors.push(invalid(path.index(i), version, 'duplicate version'));
      continue;
    }
    seen.add(version);
    const broken = isDns1035Label(version);
    if (broken.length > 0) errors.push(invalid(path.index(i), version, broken.join(',')));
  }
  if (needsKnown && !conversionReviewVersions.some((version) => seen.has(version))) {
    errors.push(invalid(path, versions, `must include at least one of ${conversionReviewVersions.join(', ')}`));
  }
  return errors;
}
