import type { GroupVersionResource } from '../../../base/machinery/group-version.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';

const policies = [
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
];
const reviews: Readonly<Record<string, readonly string[]>> = {
  authentication: ['selfsubjectreviews', 'tokenreviews'],
  authorization: [
    'localsubjectaccessreviews',
    'selfsubjectaccessreviews',
    'selfsubjectrulesreviews',
    'subjectaccessreviews',
  ],
};

/**
 * Whether a resource is exempt from all policies: policies and bindings themselves, so that a bad one can be removed,
 * and reviews.
 */
export function exemptResources(names: VendorNames): (resource: GroupVersionResource) => boolean {
  const exempt = new Map<string, ReadonlySet<string>>([[groupName('admissionregistration', names), new Set(policies)]]);
  for (const [group, resources] of Object.entries(reviews)) exempt.set(groupName(group, names), new Set(resources));
  return ({ group, resource }) => exempt.get(group)?.has(resource) === true;
}
