import { type GroupVersionKind, parseApiVersion } from '../../../base/machinery/group-version.js';

/** Versions that kinds have had within their group, and those kinds: the release can still read them in a body. */
const sameGroup: readonly (readonly [versions: string, kinds: string])[] = [
  [
    'v1 v1beta1',
    'APIService CSIDriver CSINode CertificateSigningRequest CronJob CustomResourceDefinition EndpointSlice Eviction ' +
      'IPAddress Ingress IngressClass Lease LocalSubjectAccessReview MutatingWebhookConfiguration ' +
      'PodCertificateRequest PodDisruptionBudget PriorityClass SelfSubjectAccessReview SelfSubjectRulesReview ' +
      'ServiceCIDR StorageClass StorageVersionMigration SubjectAccessReview TokenReview ValidatingWebhookConfiguration',
  ],
  [
    'v1 v1beta1 v1alpha1',
    'CSIStorageCapacity ClusterRole ClusterRoleBinding ClusterTrustBundle MutatingAdmissionPolicy ' +
      'MutatingAdmissionPolicyBinding Role RoleBinding RuntimeClass SelfSubjectReview ValidatingAdmissionPolicy ' +
      'ValidatingAdmissionPolicyBinding VolumeAttachment VolumeAttributesClass',
  ],
  ['v1 v1beta1 v1beta2', 'ControllerRevision Deployment StatefulSet'],
  ['v1 v1beta1 v1beta2', 'DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice'],
  ['v1 v1beta1 v1beta2 v1beta3', 'FlowSchema PriorityLevelConfiguration'],
  ['v1 v1beta2', 'DaemonSet ReplicaSet'],
  ['v1 v1beta2 v1alpha3', 'DeviceTaintRule'],
  ['v1 v2', 'HorizontalPodAutoscaler'],
  ['v1beta1 v1alpha2', 'LeaseCandidate'],
  ['v1beta1 v1alpha3', 'PodGroup Workload'],
];

/** Versions of another group in which the release can read a kind. */
const otherGroups: readonly (readonly [apiVersions: string, kinds: string])[] = [
  ['extensions/v1beta1', 'DaemonSet Deployment Ingress NetworkPolicy ReplicaSet'],
  ['extensions/v1beta1 apps/v1beta1 apps/v1beta2', 'Scale'],
];

const versionsByKind = byKind(sameGroup);
const apiVersionsByKind = byKind(otherGroups);

function byKind(rows: readonly (readonly [string, string])[]): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(
    rows.flatMap(([versions, kinds]) => kinds.split(' ').map((kind) => [kind, new Set(versions.split(' '))] as const)),
  );
}

/**
 * Whether a body in `apiVersion` is one of the expected kind in a version that the release knows, though the path
 * expects another one.
 */
export function isKnownElsewhere(apiVersion: string, { group, kind }: GroupVersionKind): boolean {
  const parsed = parseApiVersion(apiVersion);
  if (parsed === undefined) return false;
  // The core group and another one have the same events.
  const isEvents = parsed.group === '' || parsed.group.startsWith('events.');
  if (kind === 'Event') return isEvents && (parsed.version === 'v1' || apiVersion.endsWith('/v1beta1'));
  if (apiVersionsByKind.get(kind)?.has(apiVersion) === true) return true;
  return parsed.group === group && versionsByKind.get(kind)?.has(parsed.version) === true;
}
