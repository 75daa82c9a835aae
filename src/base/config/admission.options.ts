import { AdmissionWebhookOptions } from './admission-webhook.options.js';
import { Check } from './check.js';
import { describeDeprecation, describeEnd } from './deprecation.js';
import { defaultFeatureGates, type FeatureGates, type FeatureName } from './feature-gates.js';
import { Flag } from './flag.js';

/** The admission plugins in the order they run, and whether each runs by default (specification 5.5). */
const admissionPlugins = [
  { name: 'AlwaysAdmit', isDefault: false },
  { name: 'NamespaceAutoProvision', isDefault: false },
  { name: 'NamespaceLifecycle', isDefault: true },
  { name: 'NamespaceExists', isDefault: false },
  { name: 'SecurityContextDeny', isDefault: false },
  { name: 'LimitPodHardAntiAffinityTopology', isDefault: false },
  { name: 'LimitRanger', isDefault: true },
  { name: 'ServiceAccount', isDefault: true },
  { name: 'NodeRestriction', isDefault: false },
  { name: 'TaintNodesByCondition', isDefault: true },
  { name: 'AlwaysPullImages', isDefault: false },
  { name: 'ImagePolicyWebhook', isDefault: false },
  { name: 'PodSecurity', isDefault: true },
  { name: 'PodSecurityPolicy', isDefault: false },
  { name: 'PodNodeSelector', isDefault: false },
  { name: 'Priority', isDefault: true },
  { name: 'DefaultTolerationSeconds', isDefault: true },
  { name: 'PodTolerationRestriction', isDefault: false },
  { name: 'EventRateLimit', isDefault: false },
  { name: 'ExtendedResourceToleration', isDefault: false },
  { name: 'PersistentVolumeLabel', isDefault: false },
  { name: 'DefaultStorageClass', isDefault: true },
  { name: 'StorageObjectInUseProtection', isDefault: true },
  { name: 'OwnerReferencesPermissionEnforcement', isDefault: false },
  { name: 'PersistentVolumeClaimResize', isDefault: true },
  { name: 'RuntimeClass', isDefault: true },
  { name: 'CertificateApproval', isDefault: true },
  { name: 'CertificateSigning', isDefault: true },
  { name: 'ClusterTrustBundleAttest', isDefault: true },
  { name: 'CertificateSubjectRestriction', isDefault: true },
  { name: 'DefaultIngressClass', isDefault: true },
  { name: 'DenyServiceExternalIPs', isDefault: false },
  { name: 'PodTopologyLabels', isDefault: true },
  { name: 'NodeDeclaredFeatureValidator', isDefault: true },
  { name: 'PodResizeValidator', isDefault: true },
  { name: 'DenyEscalatingExec', isDefault: false },
  { name: 'DenyExecOnPrivileged', isDefault: false },
  { name: 'MutatingAdmissionPolicy', isDefault: true },
  { name: 'MutatingAdmissionWebhook', isDefault: true },
  { name: 'ValidatingAdmissionPolicy', isDefault: true },
  { name: 'ValidatingAdmissionWebhook', isDefault: true },
  { name: 'ResourceQuota', isDefault: true },
  { name: 'AlwaysDeny', isDefault: false },
] as const;

export type AdmissionPluginName = (typeof admissionPlugins)[number]['name'];

/** All plugins that this server has. */
export const admissionPluginNames: readonly AdmissionPluginName[] = admissionPlugins.map(({ name }) => name);
const all = admissionPluginNames.join(', ');
const defaults = admissionPlugins
  .filter(({ isDefault }) => isDefault)
  .map(({ name }) => name)
  .join(', ');

function namesProblem(values: readonly string[], siblings: Readonly<Record<string, unknown>>): string | undefined {
  const unknown = values.filter((value) => !admissionPlugins.some(({ name }) => name === value));
  if (unknown.length > 0) return `names the unknown plugin ${unknown.join(', ')}; choose from ${all}`;
  if (new Set(values).size !== values.length) return 'names a plugin twice';
  const { enableAdmissionPlugins, disableAdmissionPlugins } = siblings as unknown as AdmissionOptions;
  const both = enableAdmissionPlugins.filter((name) => disableAdmissionPlugins.includes(name));
  return both.length === 0 ? undefined : `has ${both.join(', ')}, which the other of the two flags names as well`;
}

/** The deprecation notice that all deprecated plugins share. */
const pluginsEnd = { since: '0.1', until: '0.4' };

/** The reason why each deprecated plugin is deprecated. */
const deprecations: ReadonlyMap<string, string> = new Map<AdmissionPluginName, string>([
  ['AlwaysAdmit', 'it does nothing'],
  ['AlwaysDeny', 'it is of no use'],
  ['DenyEscalatingExec', 'use policies instead'],
  ['DenyExecOnPrivileged', 'use policies instead'],
  ['PersistentVolumeLabel', 'storage drivers set these labels'],
  ['PodSecurityPolicy', 'use PodSecurity instead'],
  ['SecurityContextDeny', 'use PodSecurity instead'],
]);

function deprecatedPlugins(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const why = deprecations.get(name);
    return why === undefined
      ? []
      : [`the plugin ${name} is deprecated ${describeDeprecation({ ...pluginsEnd, advice: why })}`];
  });
}

function secondsProblem(seconds: number): string | undefined {
  return seconds >= 0 ? undefined : 'must not be negative';
}

/** Which admission plugins check and complete objects before they are written. */
export class AdmissionOptions extends AdmissionWebhookOptions {
  @Flag({
    name: 'enable-admission-plugins',
    type: 'list',
    values: admissionPluginNames,
    unit: 'names',
    usage:
      `Admission plugins besides the default ones (${defaults}), of ${all}. Their order is fixed. ` +
      `Deprecated ${describeEnd(pluginsEnd)}: ${[...deprecations.keys()].join(', ')}.`,
    warnings: (names) => deprecatedPlugins(names as readonly string[]),
  })
  @Check('plugins', namesProblem)
  readonly enableAdmissionPlugins: readonly AdmissionPluginName[] = [];

  @Flag({
    name: 'disable-admission-plugins',
    type: 'list',
    values: admissionPluginNames,
    unit: 'names',
    usage: 'Admission plugins that do not run although they are default ones.',
  })
  @Check('plugins', namesProblem)
  readonly disableAdmissionPlugins: readonly AdmissionPluginName[] = [];

  @Flag({
    name: 'default-not-ready-toleration-seconds',
    type: 'int',
    unit: 'seconds',
    usage: 'How long pods without a toleration of their own stay on a node that is not ready.',
  })
  @Check<number>('tolerationSeconds', secondsProblem)
  readonly defaultNotReadyTolerationSeconds: number = 300;

  @Flag({
    name: 'default-unreachable-toleration-seconds',
    type: 'int',
    unit: 'seconds',
    usage: 'How long pods without a toleration of their own stay on a node that cannot be reached.',
  })
  @Check<number>('tolerationSeconds', secondsProblem)
  readonly defaultUnreachableTolerationSeconds: number = 300;

  @Flag({
    name: 'admission-control-config-file',
    type: 'string',
    unit: 'file',
    usage: 'Configuration of admission plugins, of kind AdmissionConfiguration. Changes need a restart.',
  })
  readonly admissionControlConfigFile: string | undefined = undefined;
}

/** The feature gates without which plugins do not run. */
const gates: ReadonlyMap<AdmissionPluginName, FeatureName> = new Map([
  ['PodSecurity', 'PodSecurity'],
  ['PodTopologyLabels', 'PodTopologyLabelsAdmission'],
  ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicy'],
]);

/** The plugins that run, in order. */
export function selectedAdmissionPlugins(
  options: Readonly<AdmissionOptions>,
  features: FeatureGates = defaultFeatureGates,
): readonly AdmissionPluginName[] {
  const { enableAdmissionPlugins, disableAdmissionPlugins } = options;
  return admissionPlugins
    .filter(({ name, isDefault }) => isDefault || enableAdmissionPlugins.includes(name))
    .map(({ name }) => name)
    .filter((name) => !disableAdmissionPlugins.includes(name))
    .filter((name) => {
      const gate = gates.get(name);
      return gate === undefined || features.isOn(gate);
    });
}
