import type { ApiObject } from '../../../base/machinery/api-object.js';
import { volumeAnnotations } from '../../../base/machinery/volume-annotations.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { Informer } from '../../../objects/registry/informers/informer.js';
import type { Cluster } from '../../scheduler/cluster.js';
import type { PodInfo } from '../../scheduler/pod-info.js';
import { isBound, isReachable, type StoredClaim, type StoredVolume } from '../../scheduler/volumes.js';
import type { ReconcileDependencies } from '../frame/reconcile-loop.js';
import type { InformedClusterObjects } from './informed-cluster-objects.js';

type StoredPod = Pod & ApiObject;

/** The writes for the claims of a pod: the newest version of each claim whose node was named, by its uid. */
export type PreparedClaims = ReadonlyMap<string, bigint>;

const longestWaitMs = 600_000;

/** Pods that have chosen a node and wait until their claims are bound. */
export class ClaimWaits {
  private readonly waits = new Map<string, Set<() => void>>();
  private readonly pods: Informer<StoredPod>;
  private readonly selectedNode: string;

  constructor(
    private readonly dependencies: ReconcileDependencies,
    private readonly clusterObjects: InformedClusterObjects,
    private readonly cluster: Cluster,
  ) {
    this.pods = dependencies.informers.of<StoredPod>({ group: '', resource: 'pods' });
    this.selectedNode = volumeAnnotations(dependencies.names).selectedNode;
  }

  /** Follows claims and pods until the abort; their informers must be filled. */
  start(signal: AbortSignal): void {
    const notify = (object: ApiObject | undefined, old: ApiObject | undefined) => {
      const { kind, metadata } = (object ?? old) as ApiObject;
      for (const check of this.waits.get(`${kind} ${metadata.namespace}/${metadata.name}`) ?? []) check();
    };
    void this.clusterObjects.claims.subscribe({ changed: notify }, signal);
    void this.pods.subscribe({ changed: notify }, signal);
  }

  /**
   * Resolves with whether the claims of a pod became bound to volumes within reach of its node. Ends early when the pod is
   * gone, when a claim can't be bound any more, or when a provisioner takes the node back.
   */
  async bound(pod: PodInfo, node: string, prepared: PreparedClaims, signal: AbortSignal): Promise<boolean> {
    const done = new AbortController();
    let outcome = false;
    const check = () => {
      const state = this.stateOf(pod, prepared);
      if (state === undefined) return;
      outcome = state;
      done.abort();
    };
    const { namespace, name, claims } = pod;
    const keys = [`Pod ${namespace}/${name}`, ...claims.map((one) => `PersistentVolumeClaim ${namespace}/${one.name}`)];
    for (const key of keys) {
      const checks = this.waits.get(key);
      if (checks === undefined) this.waits.set(key, new Set([check]));
      else checks.add(check);
    }
    try {
      check();
      await this.dependencies.timers.wait(longestWaitMs, AbortSignal.any([signal, done.signal]));
    } finally {
      for (const key of keys) {
        const checks = this.waits.get(key);
        checks?.delete(check);
        if (checks?.size === 0) this.waits.delete(key);
      }
    }
    return outcome && !signal.aborted && (await this.isInReach(pod, node));
  }

  /** Whether all claims are bound; undefined: not yet. */
  private stateOf({ namespace, name, uid, claims }: PodInfo, prepared: PreparedClaims): boolean | undefined {
    const pod = this.pods.get(namespace, name);
    if (pod === undefined || pod.metadata.uid !== uid || pod.metadata.deletionTimestamp !== undefined) return false;
    if (pod.spec.nodeName) return false;
    let isReady = true;
    for (const used of claims) {
      const claim = this.clusterObjects.claim(namespace, used.name);
      if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return false;
      if (claim.status?.phase === 'Lost') return false;
      if (isBound(claim, this.dependencies.names.labelPrefix)) continue;
      isReady = false;
      if (this.isTakenBack(claim, prepared)) return false;
    }
    return isReady || undefined;
  }

  private isTakenBack({ metadata }: StoredClaim, prepared: PreparedClaims): boolean {
    const written = prepared.get(metadata.uid ?? '');
    if (written === undefined || BigInt(metadata.resourceVersion ?? 0) < written) return false;
    return metadata.annotations?.[this.selectedNode] === undefined;
  }

  private async isInReach({ namespace, claims }: PodInfo, nodeName: string): Promise<boolean> {
    const volumes = this.dependencies.client.of<StoredVolume>({ group: '', resource: 'persistentvolumes' });
    for (const used of claims) {
      const name = this.clusterObjects.claim(namespace, used.name)?.spec.volumeName ?? '';
      // A claim may appear bound before the informer shows its new volume.
      const volume = this.clusterObjects.volume(name) ?? (await volumes.get('', name));
      const node = this.cluster.node(nodeName);
      if (volume === undefined || node === undefined || !isReachable(volume, node)) return false;
    }
    return true;
  }
}
