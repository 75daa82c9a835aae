import { type AdmissionOptions, selectedAdmissionPlugins } from '../../base/config/admission.options.js';
import type { ResourceRegistry } from '../../objects/registry/resource-registry.js';

/**
 * A warning when the plugin PodSecurityPolicy is on and nobody can write the policies that it asks for: it then refuses
 * every pod. Undefined otherwise.
 */
export function unservedPolicies(
  options: Pick<AdmissionOptions, 'enableAdmissionPlugins' | 'disableAdmissionPlugins'>,
  registry: Pick<ResourceRegistry, 'findServed'>,
): string | undefined {
  const isOn = selectedAdmissionPlugins(options as AdmissionOptions).includes('PodSecurityPolicy');
  if (!isOn || registry.findServed('policy', 'v1beta1', 'podsecuritypolicies') !== undefined) return undefined;
  return 'the admission plugin PodSecurityPolicy is on, and its policies are not served: unless some are stored already, no pod is admitted. Use --runtime-config=policy/v1beta1, or the plugin PodSecurity';
}
