import type { Informer, InformerIndex } from '../../../objects/registry/informers/informer.js';
import type { StoredClaim } from '../ephemeral-volume/ephemeral-claims.js';
import type { StoredPod } from '../frame/indexes.js';
import type { AttachableVolume, StoredDriver, StoredVolume } from './attachable-volume.js';
import { attachmentOf, hasLeftVolumes, mayAttach } from './wanted-volumes.js';

/** A volume that pods of a node need, with those pods. */
export interface DesiredVolume {
  readonly volume: AttachableVolume;
  readonly pods: StoredPod[];
}

export interface DesiredVolumesDependencies {
  readonly labelPrefix: string;
  readonly podsByNode: InformerIndex<StoredPod>;
  readonly claims: Pick<Informer<StoredClaim>, 'get'>;
  readonly volumes: Pick<Informer<StoredVolume>, 'get'>;
  readonly drivers: Pick<Informer<StoredDriver>, 'get'>;
}

/** The volumes that the pods of each node need; a known need is remembered as long as the pod exists. */
export class DesiredVolumes {
  /** The volumes that pods need, by node and then by the pod's uid and the volume's name. */
  private readonly known = new Map<string, Map<string, AttachableVolume>>();

  constructor(private readonly dependencies: DesiredVolumesDependencies) {}

  /** Forgets the needs of all pods. */
  clear(): void {
    this.known.clear();
  }

  /** The volumes that the pods of a node need. A pod needs its volumes until it has finished. */
  on(nodeName: string, isThere: boolean): Map<string, DesiredVolume> {
    const wanted = new Map<string, DesiredVolume>();
    const before = this.known.get(nodeName);
    const known = new Map<string, AttachableVolume>();
    const { labelPrefix, claims, volumes, drivers } = this.dependencies;
    const lookup = {
      labelPrefix,
      claim: (namespace: string, name: string) => claims.get(namespace, name),
      volume: (name: string) => volumes.get('', name),
      driver: (name: string) => drivers.get('', name),
    };
    for (const pod of this.dependencies.podsByNode.get(nodeName)) {
      if (!mayAttach(pod) || hasLeftVolumes(pod)) continue;
      for (const podVolume of pod.spec.volumes ?? []) {
        const key = `${pod.metadata.uid} ${podVolume.name}`;
        const found = attachmentOf(pod, podVolume, lookup);
        // A deleted node gets nothing new, but pods that it may still run keep their volumes.
        const volume = found === 'unknown' || !isThere ? before?.get(key) : found;
        if (volume === undefined) continue;
        known.set(key, volume);
        const entry = wanted.get(volume.uniqueName);
        if (entry === undefined) wanted.set(volume.uniqueName, { volume, pods: [pod] });
        else if (!entry.pods.includes(pod)) entry.pods.push(pod);
      }
    }
    if (known.size === 0) this.known.delete(nodeName);
    else this.known.set(nodeName, known);
    return wanted;
  }
}
