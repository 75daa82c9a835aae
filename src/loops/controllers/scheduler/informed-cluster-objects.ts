import type { ApiObject } from '../../../base/machinery/api-object.js';
import { selectorOf } from '../../../base/machinery/label-selector.js';
import { groupName } from '../../../base/machinery/vendor.js';
import type { ReplicaSet } from '../../../objects/apis/apps/v1/replica-set.types.js';
import type { StatefulSet } from '../../../objects/apis/apps/v1/stateful-set.types.js';
import type { PersistentVolume } from '../../../objects/apis/core/v1/persistent-volume.types.js';
import type { PersistentVolumeClaim } from '../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { ReplicationController } from '../../../objects/apis/core/v1/replication-controller.types.js';
import type { Service } from '../../../objects/apis/core/v1/service.types.js';
import type { PodDisruptionBudget } from '../../../objects/apis/policy/v1/pod-disruption-budget.types.js';
import type { CSINode } from '../../../objects/apis/storage/v1/csi-node.types.js';
import type { StorageClass } from '../../../objects/apis/storage/v1/storage-class.types.js';
import type { Informer } from '../../../objects/registry/informers/informer.js';
import { selectorFrom } from '../../scheduler/affinity-terms.js';
import type { ClusterObjects, PodGroupInfo } from '../../scheduler/cluster-objects.js';
import type { PodInfo } from '../../scheduler/pod-info.js';
import type { ReconcileDependencies } from '../frame/reconcile-loop.js';
import { InformedDevices } from './informed-devices.js';

type Workload = { readonly spec?: { readonly selector?: unknown } } & ApiObject;

const volumesByClass = 'storage class';
/** The most groups of pods that are remembered. */
const mostGroups = 4096;

/** The objects besides nodes and pods that decide about placing pods, as the informers show them. */
export class InformedClusterObjects implements ClusterObjects {
  readonly namespaces: Informer;
  readonly claims: Informer<PersistentVolumeClaim & ApiObject>;
  readonly volumes: Informer<PersistentVolume & ApiObject>;
  readonly classes: Informer<StorageClass & ApiObject>;
  readonly csiNodes: Informer<CSINode & ApiObject>;
  readonly devices: InformedDevices;
  readonly now: () => number;
  private readonly budgets: Informer<PodDisruptionBudget & ApiObject>;
  private readonly services: Informer<Service & ApiObject>;
  /** The workloads whose pods are a group, by kind. */
  private readonly workloads: ReadonlyMap<string, Informer<Workload>>;
  private readonly groups = new Map<string, PodGroupInfo | undefined>();

  constructor(dependencies: ReconcileDependencies) {
    const { informers, names, timers } = dependencies;
    this.devices = new InformedDevices(dependencies);
    this.now = () => timers.now();
    const of = <T extends ApiObject>(group: string, resource: string) =>
      informers.of<T>({ group: groupName(group, names), resource });
    this.namespaces = of('', 'namespaces');
    this.claims = of('', 'persistentvolumeclaims');
    this.volumes = of('', 'persistentvolumes');
    this.classes = of('storage', 'storageclasses');
    this.csiNodes = of('storage', 'csinodes');
    this.budgets = of('policy', 'poddisruptionbudgets');
    this.services = of('', 'services');
    this.workloads = new Map([
      ['ReplicaSet', of<ReplicaSet & ApiObject>('apps', 'replicasets') as unknown as Informer<Workload>],
      ['StatefulSet', of<StatefulSet & ApiObject>('apps', 'statefulsets') as unknown as Informer<Workload>],
      [
        'ReplicationController',
        of<ReplicationController & ApiObject>('', 'replicationcontrollers') as unknown as Informer<Workload>,
      ],
    ]);
  }

  /** Follows all these objects until the abort; resolves when the informers are filled. */
  async start(signal: AbortSignal): Promise<void> {
    const { namespaces, claims, volumes, classes, csiNodes, budgets, services, workloads } = this;
    const all = [namespaces, claims, volumes, classes, csiNodes, budgets, services, ...workloads.values()];
    await Promise.all([this.devices.start(signal), ...all.map((informer) => informer.use(signal))]);
    const changed = (object: Workload | undefined, old: Workload | undefined) => {
      if (JSON.stringify(object?.spec?.selector) !== JSON.stringify(old?.spec?.selector)) this.groups.clear();
    };
    for (const informer of [services as unknown as Informer<Workload>, ...workloads.values()]) {
      await informer.subscribe({ changed }, signal);
    }
  }

  readonly namespaceLabels = (name: string) => this.namespaces.get('', name)?.metadata.labels;

  readonly budgetsIn = (namespace: string) => this.budgets.inNamespace(namespace);

  readonly claim = (namespace: string, name: string) => this.claims.get(namespace, name);

  readonly volume = (name: string) => this.volumes.get('', name);

  readonly volumeLimits = (node: string) => limitsOf(this.csiNodes.get('', node));

  readonly storageClass = (name: string) => this.classes.get('', name);

  readonly volumesOfClass = (name: string) =>
    this.volumes.index(volumesByClass, ({ spec }) => [spec.storageClassName ?? '']).get(name);

  /** Whether a claim to devices that the pod names, or that is made for it by a template, does not exist yet. */
  waitsForClaims({ pod, namespace }: PodInfo): boolean {
    return (pod.spec.resourceClaims ?? []).some(({ name, resourceClaimName }) => {
      const made = pod.status?.resourceClaimStatuses?.find((status) => status.name === name);
      const claim = resourceClaimName ?? made?.resourceClaimName;
      if (claim === undefined) return resourceClaimName === undefined && made === undefined;
      return this.devices.claim(namespace, claim) === undefined;
    });
  }

  readonly groupOf = (pod: PodInfo): PodGroupInfo | undefined => {
    const owner = pod.pod.metadata.ownerReferences?.find(({ controller }) => controller === true);
    const key = JSON.stringify([pod.namespace, owner?.uid, pod.labels]);
    if (this.groups.has(key)) return this.groups.get(key);
    const group = this.findGroup(pod, owner);
    if (this.groups.size >= mostGroups) this.groups.clear();
    this.groups.set(key, group);
    return group;
  };

  /** All selectors of services and of the owner that match the pod, as one group. */
  private findGroup({ namespace, labels }: PodInfo, owner: { kind: string; name: string } | undefined) {
    const matchLabels: Record<string, string> = {};
    for (const { spec } of this.services.inNamespace(namespace)) {
      const pairs = Object.entries(spec?.selector ?? {});
      if (pairs.length > 0 && pairs.every(([key, value]) => labels[key] === value)) {
        for (const [key, value] of pairs) matchLabels[key] = value;
      }
    }
    const workload = owner && this.workloads.get(owner.kind)?.get(namespace, owner.name);
    const selector = workload?.spec?.selector;
    const isPlain = owner?.kind === 'ReplicationController';
    if (isPlain) Object.assign(matchLabels, selector);
    const own = isPlain || selector === undefined ? undefined : (selector as Parameters<typeof selectorFrom>[0]);
    const requirements = [
      ...selectorFrom({ matchLabels }).requirements,
      ...(own === undefined ? [] : selectorFrom(own).requirements),
    ];
    if (requirements.length === 0) return undefined;
    return { selector: selectorOf(requirements), text: JSON.stringify([matchLabels, own]) };
  }
}

const limits = new WeakMap<CSINode, ReadonlyMap<string, number>>();

/** The drivers' limits on a node; a driver without a limit takes any number. */
function limitsOf(node: CSINode | undefined): ReadonlyMap<string, number> | undefined {
  if (node === undefined) return undefined;
  let known = limits.get(node);
  if (known === undefined) {
    known = new Map(
      (node.spec.drivers ?? []).flatMap(({ name, allocatable }) =>
        allocatable?.count === undefined ? [] : [[name, allocatable.count] as const],
      ),
    );
    limits.set(node, known);
  }
  return known;
}
