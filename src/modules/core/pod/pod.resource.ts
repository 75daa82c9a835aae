import type { VendorNames } from '../../../base/machinery/vendor.js';
import { type Pod, pod } from '../../../objects/apis/core/v1/pod.types.js';
import { defineResource, type StoredResource } from '../../../objects/registry/resource-definition.js';
import type { ResourceStores } from '../../../objects/registry/store/resource-stores.js';
import { podProxyPath } from '../proxy-path.js';
import { evictionPath } from './eviction/eviction.path.js';
import { bindingPath } from './pod.binding.js';
import { podColumns, podRowConditions } from './pod.columns.js';
import { podAttachPath, podExecPath, podPortForwardPath } from './pod.connect.js';
import { podLogPath } from './pod.log.js';
import { ephemeralContainersPath, podStatusPath } from './pod.paths.js';
import { resizePath } from './pod.resize.js';
import { podStrategy } from './pod.strategy.js';

/** Pods: containers that run together on one node. */
export function podResource(names: VendorNames, stores: ResourceStores): StoredResource {
  const options = { names };
  return defineResource<Pod>({
    group: '',
    resource: 'pods',
    singular: 'pod',
    kind: 'Pod',
    namespaced: true,
    shortNames: ['po'],
    categories: ['all'],
    versions: [{ version: 'v1', type: pod }],
    strategy: podStrategy(options),
    // The generation ignores the node, as a binding does not change the desired state.
    strategyOptions: { returnsDeletedObject: true, generation: ({ spec }) => ({ ...(spec as object), nodeName: '' }) },
    selectableFieldNames: [
      'spec.nodeName',
      // The name of the field in the first releases.
      'spec.host',
      'spec.hostNetwork',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'status.phase',
      'status.podIP',
      'status.podIPs',
      'status.nominatedNodeName',
    ],
    selectableFields: ({ spec, status }) => ({
      'spec.nodeName': spec.nodeName ?? '',
      'spec.host': spec.nodeName ?? '',
      'spec.hostNetwork': String(spec.hostNetwork === true),
      'spec.restartPolicy': spec.restartPolicy ?? '',
      'spec.schedulerName': spec.schedulerName ?? '',
      'spec.serviceAccountName': spec.serviceAccountName ?? '',
      'status.phase': status.phase ?? '',
      'status.podIP': status.podIP ?? '',
      'status.podIPs': status.podIPs?.map(({ ip }) => ip).join(',') || (status.podIP ?? ''),
      'status.nominatedNodeName': status.nominatedNodeName ?? '',
    }),
    columns: podColumns,
    rowConditions: podRowConditions,
    subresources: [
      podStatusPath(options),
      bindingPath(stores.clock, options),
      evictionPath(names, stores),
      ephemeralContainersPath(options),
      resizePath(options),
      podLogPath,
      podExecPath,
      podAttachPath,
      podPortForwardPath,
      podProxyPath,
    ],
  });
}
