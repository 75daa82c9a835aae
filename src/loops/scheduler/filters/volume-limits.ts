import type { SchedulingView } from '../cluster.js';
import { type Filter, refusal } from '../filter.js';
import type { PodInfo } from '../pod-info.js';
import { classOf } from '../volumes.js';

const tooMany = refusal('NodeVolumeLimits', 'node(s) exceed max volume count', false);

/** The volumes of a pod that storage drivers attach to its node, with the driver of each. */
function attachedVolumes(pod: PodInfo, { clusterObjects, labelPrefix }: SchedulingView): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name } of pod.claims) {
    const claim = clusterObjects.claim?.(pod.namespace, name);
    if (claim === undefined) continue;
    const volume = claim.spec.volumeName ? clusterObjects.volume?.(claim.spec.volumeName) : undefined;
    if (volume !== undefined) {
      const { csi } = volume.spec;
      if (csi) found.set(`${csi.driver} ${csi.volumeHandle}`, csi.driver);
      continue;
    }
    // A volume still to be made for the claim counts already.
    const driver = clusterObjects.storageClass?.(classOf(claim, labelPrefix))?.provisioner;
    if (driver) found.set(`${driver} ${pod.namespace}/${name}`, driver);
  }
  return found;
}

/** How many volumes of each driver the CSINode of a node allows. A volume that several pods use counts once. */
export const volumeLimits: Filter = {
  name: 'NodeVolumeLimits',
  prepare(pod, cluster) {
    if (pod.claims.length === 0 || cluster.clusterObjects.volumeLimits === undefined) return undefined;
    const wanted = attachedVolumes(pod, cluster);
    if (wanted.size === 0) return undefined;
    const drivers = new Set(wanted.values());
    return {
      check: (node) => {
        const limits = cluster.clusterObjects.volumeLimits?.(node.name);
        if (limits === undefined || ![...drivers].some((driver) => limits.has(driver))) return undefined;
        const attached = new Map<string, string>();
        for (const other of node.pods.values()) {
          if (other.claims.length === 0) continue;
          for (const [volume, driver] of attachedVolumes(other, cluster)) attached.set(volume, driver);
        }
        const added = new Map<string, number>();
        for (const [volume, driver] of wanted) {
          if (!attached.has(volume)) added.set(driver, (added.get(driver) ?? 0) + 1);
        }
        const present = [...attached.values()];
        for (const [driver, count] of added) {
          const limit = limits.get(driver);
          if (limit === undefined) continue;
          if (present.filter((one) => one === driver).length + count > limit) return tooMany;
        }
        return undefined;
      },
    };
  },
};
