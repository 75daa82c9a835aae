import type { AuthorizationDecision, AuthorizerAttributes } from '../../../base/machinery/authorizer.js';
import { selectorFields } from './selector-fields.js';

/** Versions of the review that a webhook accepts. */
export const accessReviewVersions = ['v1beta1', 'v1'] as const;
export type SubjectAccessReviewVersion = (typeof accessReviewVersions)[number];

/** The spec of a review, with everything that the response may depend on; empty fields are omitted. */
export function reviewSpec(attributes: AuthorizerAttributes, version: SubjectAccessReviewVersion): object {
  const { user, verb } = attributes;
  const about = attributes.isResourceRequest
    ? {
        resourceAttributes: {
          ...filled({
            namespace: attributes.namespace,
            verb,
            group: attributes.apiGroup,
            version: attributes.apiVersion,
            resource: attributes.resource,
            subresource: attributes.subresource,
            name: attributes.name,
          }),
          ...selectorFields(attributes),
        },
      }
    : { nonResourceAttributes: filled({ path: attributes.path, verb }) };
  const groups = user.groups.length === 0 ? {} : { [version === 'v1' ? 'groups' : 'group']: user.groups };
  const extra = Object.keys(user.extra).length === 0 ? {} : { extra: user.extra };
  return { ...about, ...filled({ user: user.name }), ...groups, ...extra, ...filled({ uid: user.uid }) };
}

/** The response of a webhook. `error` is the problem that the webhook reported, or empty. */
export interface AccessReviewAnswer {
  readonly decision: AuthorizationDecision;
  readonly error: string;
}

/**
 * Reads the response of a webhook; undefined when it is not a valid review, since an incomplete response must not be
 * trusted. A response that both allows and denies counts as a denial.
 */
export function reviewAnswer(answer: unknown): AccessReviewAnswer | undefined {
  if (!isRecord(answer) || answer.kind !== 'SubjectAccessReview' || !isRecord(answer.status)) return undefined;
  const { allowed = false, denied = false, reason = '', evaluationError = '' } = answer.status;
  if (typeof allowed !== 'boolean' || typeof denied !== 'boolean') return undefined;
  if (typeof reason !== 'string' || typeof evaluationError !== 'string') return undefined;
  const decision = denied ? 'deny' : allowed ? 'allow' : 'noOpinion';
  const error = denied && allowed ? 'the webhook both allows and denies' : evaluationError;
  return { decision: Object.freeze({ decision, reason }), error };
}

function filled(fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
