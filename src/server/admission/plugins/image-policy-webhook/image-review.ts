import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';

/** The review: the images, and the annotations that the webhook may read. */
export interface ImageReviewSpec {
  readonly containers: readonly { readonly image: string }[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly namespace: string;
}

/** The status of a review. */
export interface ImageReviewStatus {
  readonly allowed: boolean;
  readonly reason: string;
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** The review as it is sent (specification 2.11). */
export function imageReview(spec: ImageReviewSpec, names: VendorNames): object {
  const apiVersion = `${groupName('imagepolicy', names)}/v1alpha1`;
  return { kind: 'ImageReview', apiVersion, metadata: {}, spec, status: { allowed: false } };
}

/** Reads a response; undefined when it is not a review, or its status is incomplete. Its spec is ignored. */
export function imageReviewStatus(answer: unknown, names: VendorNames): ImageReviewStatus | undefined {
  if (!isRecord(answer) || answer.kind !== 'ImageReview' || !isRecord(answer.status)) return undefined;
  if (answer.apiVersion !== `${groupName('imagepolicy', names)}/v1alpha1`) return undefined;
  const { allowed = false, reason = '', auditAnnotations } = answer.status;
  const annotations = auditAnnotations ?? {};
  if (typeof allowed !== 'boolean' || typeof reason !== 'string' || !isRecord(annotations)) return undefined;
  if (Object.values(annotations).some((value) => typeof value !== 'string')) return undefined;
  return { allowed, reason, auditAnnotations: annotations as Readonly<Record<string, string>> };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
