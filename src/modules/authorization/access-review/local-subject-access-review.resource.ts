import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Authorizer } from '../../../base/machinery/authorizer.js';
import { type FieldError, FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { structForm } from '../../../base/machinery/schema/struct-form.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type LocalSubjectAccessReview,
  localSubjectAccessReview,
  nonResourceAttributes as nonResourceType,
} from '../../../objects/apis/authorization/v1/subject-access-review.types.js';
import { defineVirtualResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { refuseBroken, reviewAccess } from './access-review.js';
import { metadataErrors, subjectErrors } from './access-review.validation.js';
import { subjectOf } from './subject-access-review.resource.js';

/**
 * `localsubjectaccessreviews`: whether a user may do something in one namespace. The right to create reviews can be
 * granted for that namespace alone.
 */
export function localSubjectAccessReviewResource(names: VendorNames, authorizer: Authorizer): ResourceDefinition {
  const group = groupName('authorization', names);
  return defineVirtualResource<LocalSubjectAccessReview & ApiObject>({
    group,
    resource: 'localsubjectaccessreviews',
    singular: 'localsubjectaccessreview',
    kind: 'LocalSubjectAccessReview',
    namespaced: true,
    versions: [{ version: 'v1', type: localSubjectAccessReview }],
    answer: async (_context, review) => {
      refuseBroken(group, localErrors(review));
      const { spec } = review;
      return { ...review, status: await reviewAccess(authorizer, subjectOf(spec), spec) };
    },
  });
}

function localErrors({ metadata, spec }: LocalSubjectAccessReview & ApiObject): FieldError[] {
  const errors = [...subjectErrors(spec), ...metadataErrors(metadata, true)];
  const path = FieldPath.of('spec');
  const { resourceAttributes, nonResourceAttributes } = spec;
  const asked = resourceAttributes?.namespace ?? '';
  if (resourceAttributes && asked !== (metadata.namespace ?? '')) {
    errors.push(invalid(path.child('resourceAttributes').child('namespace'), asked, 'must match metadata.namespace'));
  }
  if (nonResourceAttributes) {
    const detail = 'disallowed on this kind of request';
    const shown = structForm(nonResourceType, nonResourceAttributes);
    errors.push(invalid(path.child('nonResourceAttributes'), shown, detail));
  }
  return errors;
}
