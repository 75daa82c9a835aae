import type { ApiObject } from '../../../base/machinery/api-object.js';

/**
 * Kinds in the order in which a cluster is filled, as `<group>/<Kind>` without the vendor's suffix of the group. What
 * others refer to comes first: namespaces, definitions, settings of the cluster, roles, service accounts,
 * configuration, volumes, objects of custom kinds, networks, workloads with those they own.
 */
const first: readonly string[] = [
  '/Namespace',
  'apiextensions/CustomResourceDefinition',
  'scheduling/PriorityClass',
  'node/RuntimeClass',
  'storage/CSIDriver',
  'storage/StorageClass',
  'storage/VolumeAttributesClass',
  'networking/IngressClass',
  'networking/ServiceCIDR',
  'flowcontrol.apiserver/PriorityLevelConfiguration',
  'flowcontrol.apiserver/FlowSchema',
  'policy/PodSecurityPolicy',
  'rbac.authorization/ClusterRole',
  'rbac.authorization/ClusterRoleBinding',
  'rbac.authorization/Role',
  'rbac.authorization/RoleBinding',
  '/Node',
  'storage/CSINode',
  '/Secret',
  '/ServiceAccount',
  '/ConfigMap',
  '/PersistentVolume',
  '/PersistentVolumeClaim',
];
const afterCustom: readonly string[] = [
  'networking/NetworkPolicy',
  '/Service',
  '/Endpoints',
  'discovery/EndpointSlice',
  'networking/Ingress',
  'policy/PodDisruptionBudget',
  '/PodTemplate',
  'apps/Deployment',
  'apps/StatefulSet',
  'apps/DaemonSet',
  'batch/CronJob',
  'apps/ControllerRevision',
  'apps/ReplicaSet',
  '/ReplicationController',
  'batch/Job',
  '/Pod',
  'autoscaling/HorizontalPodAutoscaler',
  'coordination/Lease',
  'events/Event',
  '/Event',
];
/**
 * Kinds that would refuse or change the objects before them, or need them to run: limits, extension servers, rules,
 * webhooks.
 */
const last: readonly string[] = [
  '/LimitRange',
  '/ResourceQuota',
  'apiregistration/APIService',
  'admissionregistration/ValidatingAdmissionPolicy',
  'admissionregistration/MutatingAdmissionPolicy',
  'admissionregistration/ValidatingAdmissionPolicyBinding',
  'admissionregistration/MutatingAdmissionPolicyBinding',
  'admissionregistration/ValidatingWebhookConfiguration',
  'admissionregistration/MutatingWebhookConfiguration',
];

const rankOfCustom = first.length;
const ranks = new Map<string, number>([
  ...first.map((name, i) => [name, i] as const),
  ...afterCustom.map((name, i) => [name, rankOfCustom + 1 + i] as const),
  ...last.map((name, i) => [name, rankOfCustom + 1 + afterCustom.length + i] as const),
]);

/** Groups without a suffix in any vendor's spelling. */
const plainGroups: ReadonlySet<string> = new Set(['', 'apps', 'batch', 'autoscaling', 'policy', 'extensions']);

/**
 * The name of a kind without version and without the vendor's suffix of its group: `apps/Deployment`, `/Pod`,
 * `rbac.authorization/Role`. Other groups keep their name.
 *
 * @param apiVersion of the object: `v1`, `apps/v1`
 */
export function plainKind(apiVersion: string, kind: string): string {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  if (plainGroups.has(group)) return `${group === 'extensions' ? 'networking' : group}/${kind}`;
  for (const stem of stems) if (group.startsWith(`${stem}.`)) return `${stem}/${kind}`;
  return `${group}/${kind}`;
}

const stems: readonly string[] = [
  'apiextensions',
  'apiregistration',
  'admissionregistration',
  'rbac.authorization',
  'networking',
  'scheduling',
  'storage',
  'node',
  'flowcontrol.apiserver',
  'discovery',
  'coordination',
  'certificates',
  'events',
];

/**
 * The position of a kind among all kinds: kinds with smaller numbers are created before. Custom kinds share one
 * position.
 */
export function kindRank(apiVersion: string, kind: string): number {
  return ranks.get(plainKind(apiVersion, kind)) ?? rankOfCustom;
}

/**
 * Objects in the order in which they can be created: by {@link kindRank}, then by API version and kind, namespace and
 * name; and never a dependent before an owner that is among them, whatever their kinds. Owners that own each other in a
 * circle keep the order of their kinds.
 */
export function creationOrder<T extends ApiObject>(objects: readonly T[]): T[] {
  const sorted = objects
    .map((object) => ({ object, rank: kindRank(object.apiVersion ?? '', object.kind ?? ''), key: keyOf(object) }))
    .sort((a, b) => a.rank - b.rank || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ object }) => object);
  const byUid = new Map<string, T>();
  for (const object of sorted) if (object.metadata.uid !== undefined) byUid.set(object.metadata.uid, object);
  const ordered = new Set<T>();
  const waiting = new Set<T>();
  const nextOwner = (object: T): T | undefined => {
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const owner = byUid.get(uid);
      if (owner !== undefined && !ordered.has(owner) && !waiting.has(owner)) return owner;
    }
    return undefined;
  };
  for (const object of sorted) {
    // A list instead of recursion: chains of owners may be long.
    const chain = ordered.has(object) ? [] : [object];
    for (let next = chain.at(-1); next !== undefined; next = chain.at(-1)) {
      waiting.add(next);
      const owner = nextOwner(next);
      if (owner !== undefined) {
        chain.push(owner);
        continue;
      }
      waiting.delete(next);
      ordered.add(next);
      chain.pop();
    }
  }
  return [...ordered];
}

function keyOf({ apiVersion = '', kind = '', metadata }: ApiObject): string {
  return [apiVersion, kind, metadata.namespace ?? '', metadata.name ?? ''].join('\0');
}
