import type { Authorizer, AuthorizerAttributes } from '../../../base/machinery/authorizer.js';
import type { FieldError } from '../../../base/machinery/field-error.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { invalidError } from '../../../base/machinery/status-error.js';
import type {
  NonResourceAttributes,
  ResourceAttributes,
  SubjectAccessReviewStatus,
} from '../../../objects/apis/authorization/v1/subject-access-review.types.js';
import { reviewedSelectors } from './reviewed-selectors.js';

/** The attributes that a review asks about; a valid review has exactly one of the two. */
export interface AskedAttributes {
  readonly resourceAttributes?: ResourceAttributes | null | undefined;
  readonly nonResourceAttributes?: NonResourceAttributes | null | undefined;
}

/**
 * Throws a 422 if there are errors. Reviews are not objects: the message names their group, but neither kind nor name.
 */
export function refuseBroken(group: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidError({ group, kind: '' }, '', errors);
}

/**
 * Calls the configured modules as if the user had sent the request (specification 2.11). When a module fails, the
 * review does not fail: the answer is that the request is not allowed, and the reason is reported.
 *
 * @param isSelf a user asks about himself: the answer then has `denied` even when it is false
 */
export async function reviewAccess(
  authorizer: Authorizer,
  user: UserInfo,
  asked: AskedAttributes,
  isSelf = false,
): Promise<SubjectAccessReviewStatus> {
  const denied = (isDenied: boolean) => (isDenied || isSelf ? { denied: isDenied } : {});
  try {
    const { selectors, problem } = reviewedSelectors(asked.resourceAttributes);
    const { decision, reason } = await authorizer.authorize({ ...attributesFor(user, asked), selectors });
    return {
      allowed: decision === 'allow',
      ...denied(decision === 'deny'),
      ...(reason === '' ? {} : { reason }),
      ...(problem === '' ? {} : { evaluationError: problem }),
    };
  } catch (error) {
    const evaluationError = error instanceof Error ? error.message : String(error);
    return { allowed: false, ...denied(false), evaluationError };
  }
}

function attributesFor(user: UserInfo, asked: AskedAttributes): AuthorizerAttributes {
  const { resourceAttributes: resource, nonResourceAttributes: other } = asked;
  return {
    user,
    isResourceRequest: Boolean(resource),
    verb: (resource ?? other)?.verb ?? '',
    namespace: resource?.namespace ?? '',
    apiGroup: resource?.group ?? '',
    // An empty version means every version.
    apiVersion: resource ? resource.version || '*' : '',
    resource: resource?.resource ?? '',
    subresource: resource?.subresource ?? '',
    name: resource?.name ?? '',
    path: resource ? '' : (other?.path ?? ''),
  };
}
