import type { VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import type { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { podResource } from './pod/pod.resource.js';
import { podTemplateResource } from './pod-template/pod-template.resource.js';
import { replicationControllerResource } from './replication-controller/replication-controller.resource.js';

/** Pods and the kinds of the core group that contain pod templates. */
export function coreWorkloadResources(names: VendorNames, stores: ResourceStores): ResourceDefinition[] {
  return [podResource(names, stores), podTemplateResource(names), replicationControllerResource(names)];
}
