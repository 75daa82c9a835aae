import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type CompositePodGroup,
  compositePodGroup,
} from '../../../objects/apis/scheduling/v1alpha3/composite-pod-group.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { clientMetadata, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { validateCompositePodGroup } from '../pod-group.validation.js';

const columns: readonly TableColumn<CompositePodGroup>[] = [
  nameColumn,
  {
    name: 'Policy',
    type: 'string',
    description: 'How the groups are scheduled.',
    cell: ({ spec }) => (spec.schedulingPolicy.gang === undefined ? 'Basic' : 'Gang'),
  },
  {
    name: 'Workload',
    type: 'string',
    description: 'Workload that it was made from.',
    cell: ({ spec }) => spec.workloadRef?.workloadName ?? '<none>',
  },
  ageColumn,
];

/** `compositepodgroups`: groups of pods that are scheduled together. */
export function compositePodGroupResource(names: VendorNames): ResourceDefinition {
  return defineResource<CompositePodGroup>({
    group: groupName('scheduling', names),
    resource: 'compositepodgroups',
    singular: 'compositepodgroup',
    kind: 'CompositePodGroup',
    namespaced: true,
    versions: [{ version: 'v1alpha3', type: compositePodGroup, neededGate: 'CompositePodGroup' }],
    strategyOptions: { generation: 'spec' },
    strategy: {
      applyDefaults: ({ spec }) => {
        spec.disruptionMode ??= { single: {} };
      },
      prepareForCreate: (_context, object) => {
        object.status = {};
      },
      validate: (_context, object) => validateCompositePodGroup(object),
      validateUpdate: (_context, object, old) => validateCompositePodGroup(object, old),
    },
    columns,
    subresources: [statusSubresource<CompositePodGroup>({ keptMetadata: clientMetadata })],
  });
}
