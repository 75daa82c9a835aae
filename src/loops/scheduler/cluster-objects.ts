import type { ApiObject } from '../../base/machinery/api-object.js';
import type { LabelSelector } from '../../base/machinery/label-selector.js';
import type { PersistentVolume } from '../../objects/apis/core/v1/persistent-volume.types.js';
import type { PersistentVolumeClaim } from '../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { StorageClass } from '../../objects/apis/storage/v1/storage-class.types.js';
import type { NamespaceLabels } from './affinity-terms.js';
import type { DeviceObjects } from './devices/device-objects.js';
import type { PodInfo } from './pod-info.js';

/** The pods that belong together with a pod: the replicas of a workload or behind a service. */
export interface PodGroupInfo {
  readonly selector: LabelSelector;
  /** A string that is the same for equal selectors. */
  readonly text: string;
}

/** The objects besides nodes and pods that decide where a pod can be. All functions read from memory. */
export interface ClusterObjects {
  readonly namespaceLabels?: NamespaceLabels;
  /** The group that a pod without constraints of its own is spread with. */
  readonly groupOf?: (pod: PodInfo) => PodGroupInfo | undefined;
  readonly claim?: (namespace: string, name: string) => (PersistentVolumeClaim & ApiObject) | undefined;
  readonly volume?: (name: string) => (PersistentVolume & ApiObject) | undefined;
  /** All volumes of a storage class ('' for none). */
  readonly volumesOfClass?: (name: string) => Iterable<PersistentVolume & ApiObject>;
  /** How many volumes of each storage driver a node takes; undefined when no driver has a limit. */
  readonly volumeLimits?: (node: string) => ReadonlyMap<string, number> | undefined;
  /** What is known of devices; undefined: nothing, so that no pod gets any. */
  readonly devices?: DeviceObjects;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly storageClass?: (name: string) => (StorageClass & ApiObject) | undefined;
}
