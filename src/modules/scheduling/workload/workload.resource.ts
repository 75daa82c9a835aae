import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type Workload, workload } from '../../../objects/apis/scheduling/v1alpha3/workload.types.js';
import { workload as workloadV1beta1 } from '../../../objects/apis/scheduling/v1beta1/pod-group.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { validateWorkload } from '../pod-group.validation.js';

/** `workloads`: templates of groups of pods. */
export function workloadResource(names: VendorNames): ResourceDefinition {
  return defineResource<Workload>({
    group: groupName('scheduling', names),
    resource: 'workloads',
    singular: 'workload',
    kind: 'Workload',
    namespaced: true,
    versions: [
      { version: 'v1beta1', type: workloadV1beta1, isOffByDefault: true, neededGate: 'GenericWorkload' },
      { version: 'v1alpha3', type: workload, neededGate: 'GenericWorkload' },
    ],
    strategyOptions: { generation: 'spec' },
    strategy: {
      validate: (_context, object) => validateWorkload(object),
      validateUpdate: (_context, object, old) => validateWorkload(object, old),
    },
    columns: [nameColumn, ageColumn],
  });
}
