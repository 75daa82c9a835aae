import type { GroupVersionResource } from '../../../base/machinery/group-version.js';

const configurations: ReadonlySet<string> = new Set([
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
]);

/**
 * Whether a resource holds webhooks or policies themselves. Webhooks never apply to these: otherwise a broken one could
 * not be removed.
 *
 * @param group served name of the group `admissionregistration`
 */
export function isExemptResource({ group: own, resource }: GroupVersionResource, group: string): boolean {
  return own === group && configurations.has(resource);
}
