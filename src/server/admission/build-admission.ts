import type { AdmissionPluginName } from '../../base/config/admission.options.js';
import { selectedAdmissionPlugins } from '../../base/config/admission.options.js';
import { parseServiceAddresses } from '../../base/config/admission-webhook.options.js';
import type { FeatureGates } from '../../base/config/feature-gates.js';
import { OptionsError } from '../../base/config/options-error.js';
import { type ConversionTransport, useConversionTransport } from '../../base/outgoing/conversion-transports.js';
import { DeniedAddresses } from '../../base/outgoing/denied-addresses.js';
import { sharedServiceResolver } from '../../base/outgoing/service-resolver.js';
import { ensureObject } from '../../objects/registry/store/ensure-object.js';
import { AdmissionChain } from './admission-chain.js';
import type { AdmissionDependencies } from './admission-dependencies.js';
import type { AdmissionPlugin } from './admission-plugin.js';
import type { PluginConfigurations } from './plugin-configurations.js';
import { AlwaysAdmit } from './plugins/always/always-admit.js';
import { AlwaysDeny } from './plugins/always/always-deny.js';
import { CertificateApproval } from './plugins/certificate-approval/certificate-approval.js';
import { CertificateSigning } from './plugins/certificate-signing/certificate-signing.js';
import { CertificateSubjectRestriction } from './plugins/certificate-subject-restriction/certificate-subject-restriction.js';
import { ClusterTrustBundleAttest } from './plugins/cluster-trust-bundle-attest/cluster-trust-bundle-attest.js';
import { DefaultIngressClass } from './plugins/default-class/default-ingress-class.js';
import { DefaultStorageClass } from './plugins/default-class/default-storage-class.js';
import { DenyServiceExternalIPs } from './plugins/deny-service-external-ips/deny-service-external-ips.js';
import { EventRateLimit } from './plugins/event-rate-limit/event-rate-limit.js';
import { readEventLimits } from './plugins/event-rate-limit/event-rate-limit-configuration.js';
import { buildImagePolicyWebhook } from './plugins/image-policy-webhook/build-image-policy-webhook.js';
import { LimitRanger } from './plugins/limit-ranger/limit-ranger.js';
import { MutatingAdmissionPolicyPlugin } from './plugins/mutating-admission-policy/mutating-admission-policy-plugin.js';
import { MutatingAdmissionWebhook } from './plugins/mutating-admission-webhook/mutating-admission-webhook.js';
import { NamespaceAutoProvision } from './plugins/namespace-existence/namespace-auto-provision.js';
import { NamespaceExists } from './plugins/namespace-existence/namespace-exists.js';
import { NamespaceLifecycle } from './plugins/namespace-lifecycle/namespace-lifecycle.js';
import { NodeRestriction } from './plugins/node-restriction/node-restriction.js';
import { OwnerReferencesPermissionEnforcement } from './plugins/owner-references-permission-enforcement/owner-references-permission-enforcement.js';
import { PersistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize/persistent-volume-claim-resize.js';
import { PersistentVolumeLabel } from './plugins/persistent-volume-label/persistent-volume-label.js';
import { PodSecurityPolicy } from './plugins/pod-security-policy/pod-security-policy.js';
import { ResourceQuotaPlugin } from './plugins/resource-quota/resource-quota-plugin.js';
import { StorageObjectInUseProtection } from './plugins/storage-object-in-use-protection/storage-object-in-use-protection.js';
import { ValidatingAdmissionPolicyPlugin } from './plugins/validating-admission-policy/validating-admission-policy-plugin.js';
import { ValidatingAdmissionWebhook } from './plugins/validating-admission-webhook/validating-admission-webhook.js';
import { podPlugins } from './pods/pod-plugins.js';
import { webhookRuntime } from './webhooks/webhook-runtime.js';

/** Makes a plugin. Throws an OptionsError with all faults of its configuration. */
type PluginFactory = (dependencies: AdmissionDependencies) => AdmissionPlugin;

const factories: Readonly<Record<AdmissionPluginName, PluginFactory>> = {
  AlwaysAdmit: () => new AlwaysAdmit(),
  NamespaceAutoProvision: ({ namespaces, stores, names }) => {
    const resource = { group: '', resource: 'namespaces' };
    return new NamespaceAutoProvision(namespaces, (name) =>
      ensureObject(stores, resource, { metadata: { name } }, names.fieldManagers.server),
    );
  },
  NamespaceLifecycle: ({ namespaces, names }) => new NamespaceLifecycle(namespaces, names),
  LimitRanger: (parts) => new LimitRanger(parts),
  NamespaceExists: ({ namespaces }) => new NamespaceExists(namespaces),
  NodeRestriction: ({ names, objects, authorizer }) => new NodeRestriction(names, objects, authorizer),
  ImagePolicyWebhook: (parts) => buildImagePolicyWebhook(parts),
  EventRateLimit: ({ configuration, names }) =>
    new EventRateLimit(readEventLimits(configuration.of('EventRateLimit'), names), names),
  ...podPlugins,
  PodSecurityPolicy: ({ listers, authorizer, names }) => new PodSecurityPolicy(listers, authorizer, names),
  PersistentVolumeLabel: ({ names }) => new PersistentVolumeLabel(names),
  DefaultStorageClass: ({ listers, names }) => new DefaultStorageClass(listers, names),
  StorageObjectInUseProtection: ({ names }) => new StorageObjectInUseProtection(names),
  OwnerReferencesPermissionEnforcement: ({ authorizer, registry }) =>
    new OwnerReferencesPermissionEnforcement(authorizer, registry),
  PersistentVolumeClaimResize: ({ listers, objects, names }) =>
    new PersistentVolumeClaimResize(listers, objects, names),
  CertificateApproval: ({ authorizer, names }) => new CertificateApproval(authorizer, names),
  CertificateSigning: ({ authorizer, names }) => new CertificateSigning(authorizer, names),
  ClusterTrustBundleAttest: ({ authorizer, names }) => new ClusterTrustBundleAttest(authorizer, names),
  CertificateSubjectRestriction: ({ names }) => new CertificateSubjectRestriction(names),
  DefaultIngressClass: ({ listers, names }) => new DefaultIngressClass(listers, names),
  DenyServiceExternalIPs: () => new DenyServiceExternalIPs(),
  MutatingAdmissionPolicy: (parts) => new MutatingAdmissionPolicyPlugin(parts),
  MutatingAdmissionWebhook: (parts) =>
    new MutatingAdmissionWebhook(webhookRuntime('MutatingAdmissionWebhook', 'mutating', parts)),
  ValidatingAdmissionPolicy: (parts) => new ValidatingAdmissionPolicyPlugin(parts),
  ValidatingAdmissionWebhook: (parts) =>
    new ValidatingAdmissionWebhook(webhookRuntime('ValidatingAdmissionWebhook', 'validating', parts)),
  ResourceQuota: (parts) => new ResourceQuotaPlugin(parts),
  AlwaysDeny: () => new AlwaysDeny(),
};

/**
 * The plugins that the options select, in their fixed order (specification 5.5).
 *
 * @throws OptionsError with all faults of their configuration.
 */
export function buildAdmission(
  dependencies: Omit<AdmissionDependencies, 'configuration'> & {
    readonly configuration: PluginConfigurations;
    readonly features?: FeatureGates;
  },
): AdmissionChain {
  useConversionTransport(dependencies.registry, conversionTransportOf(dependencies));
  const selected = selectedAdmissionPlugins(dependencies.options, dependencies.features);
  const problems: string[] = [];
  const plugins: AdmissionPlugin[] = [];
  for (const name of selected) {
    try {
      plugins.push(factories[name](dependencies));
    } catch (error) {
      if (!(error instanceof OptionsError)) throw error;
      problems.push(...error.problems);
    }
  }
  problems.push(...dependencies.configuration.problems(selected));
  if (problems.length > 0) throw new OptionsError(problems);
  return new AdmissionChain(plugins, dependencies.metrics);
}

/** Conversion webhooks use the same service and address rules as admission webhooks. */
function conversionTransportOf({
  listers,
  options,
  names,
  hookCalls,
}: Omit<AdmissionDependencies, 'configuration'>): ConversionTransport {
  const { webhookServiceResolver, webhookServiceAddresses, webhookDeniedCidrs } = options;
  const addresses = parseServiceAddresses(webhookServiceAddresses);
  return {
    services: sharedServiceResolver(webhookServiceResolver, addresses, listers, names),
    denied: new DeniedAddresses(webhookDeniedCidrs),
    users: undefined,
    countConversion: (call) => hookCalls.countConversion(call),
  };
}
