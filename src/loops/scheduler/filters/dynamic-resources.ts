import type { SchedulingView } from '../cluster.js';
import { DeviceFault } from '../devices/device-fault.js';
import { PodDevices } from '../devices/pod-devices.js';
import { type Filter, type FilterRefusal, refusal } from '../filter.js';
import type { PodInfo } from '../pod-info.js';

const name = 'DynamicResources';

/** The devices of a pod; undefined: it needs none. Throws a DeviceFault if it can't have them anywhere. */
export function devicesOf(pod: PodInfo, { clusterObjects, labelPrefix }: SchedulingView): PodDevices | undefined {
  const { devices, now } = clusterObjects;
  if (devices === undefined) {
    if ((pod.pod.spec.resourceClaims ?? []).length > 0) throw new DeviceFault('cannot allocate all claims');
    return undefined;
  }
  return PodDevices.of(pod, devices, `resource.${labelPrefix}`, now?.() ?? Date.now());
}

/** Requires the devices that the pod's claims ask for. Final: no removal of other pods frees devices at once. */
export const dynamicResources: Filter = {
  name,
  prepare(pod, cluster) {
    const known = new Map<string, FilterRefusal>();
    const refused = (reason: string): FilterRefusal => {
      let found = known.get(reason);
      if (found === undefined) {
        found = refusal(name, reason, true);
        known.set(reason, found);
      }
      return found;
    };
    try {
      const devices = devicesOf(pod, cluster);
      if (devices === undefined) return undefined;
      return {
        check: (node) => {
          try {
            const reason = devices.refusalOn(node);
            return reason === undefined ? undefined : refused(reason);
          } catch (error) {
            if (error instanceof DeviceFault) return { ...refused(error.message), isOfPod: true };
            throw error;
          }
        },
      };
    } catch (error) {
      if (error instanceof DeviceFault) return { refusal: refused(error.message) };
      throw error;
    }
  },
};
