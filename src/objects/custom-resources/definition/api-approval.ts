import { ownValue } from '../../../base/machinery/own-value.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';

/** The state of the approval annotation of a definition in a protected group, and the reason, for clients. */
export interface ApiApproval {
  readonly state: 'approved' | 'bypassed' | 'invalid' | 'missing';
  readonly reason: string;
}

const explanation = 'see https://github.com/kubernetes/enhancements/pull/1111';

/** The annotation that points to where the API of a protected group was agreed on. */
export function approvalAnnotation(names: VendorNames): string {
  return `api-approved.${names.labelPrefix}`;
}

/** Whether the vendor keeps the group for itself, so definitions in it need an approval. */
export function isProtectedGroup(group: string, names: VendorNames): boolean {
  return [names.suffix, names.labelPrefix].some((domain) => group === domain || group.endsWith(`.${domain}`));
}

/** Reads the approval from the annotations of a definition. */
export function apiApproval(
  annotations: Readonly<Record<string, string>> | undefined,
  names: VendorNames,
): ApiApproval {
  const key = approvalAnnotation(names);
  const value = ownValue(annotations, key) ?? '';
  const wanted = `protected groups must have approval annotation "${key}"`;
  if (value === '') return { state: 'missing', reason: `${wanted}, ${explanation}` };
  if (value.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${JSON.stringify(value)}` };
  if (isAbsoluteUrl(value)) return { state: 'approved', reason: `approved in ${value}` };
  const reason = `${wanted} with either a URL or a reason starting with "unapproved", ${explanation}`;
  return { state: 'invalid', reason };
}

function isAbsoluteUrl(text: string): boolean {
  return URL.canParse(text) && new URL(text).host !== '' && /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}
