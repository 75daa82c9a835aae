import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type PodGroup, podGroup } from '../../../objects/apis/scheduling/v1alpha3/pod-group.types.js';
import { podGroup as podGroupV1beta1 } from '../../../objects/apis/scheduling/v1beta1/pod-group.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { clientMetadata, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { validatePodGroup } from '../pod-group.validation.js';

const columns: readonly TableColumn<PodGroup>[] = [
  nameColumn,
  {
    name: 'Policy',
    type: 'string',
    description: 'How the pods are scheduled.',
    cell: ({ spec }) => (spec.schedulingPolicy.gang === undefined ? 'Basic' : 'Gang'),
  },
  {
    name: 'Workload',
    type: 'string',
    description: 'Workload that it was made from.',
    cell: ({ spec }) => spec.workloadRef?.workloadName ?? '<none>',
  },
  { name: 'Status', type: 'string', description: 'How far it has got.', cell: stateOf },
  ageColumn,
];

/** `podgroups`: pods that are scheduled together. */
export function podGroupResource(names: VendorNames): ResourceDefinition {
  return defineResource<PodGroup>({
    group: groupName('scheduling', names),
    resource: 'podgroups',
    singular: 'podgroup',
    kind: 'PodGroup',
    namespaced: true,
    versions: [
      { version: 'v1beta1', type: podGroupV1beta1, isOffByDefault: true, neededGate: 'GenericWorkload' },
      { version: 'v1alpha3', type: podGroup, neededGate: 'GenericWorkload' },
    ],
    strategyOptions: { generation: 'spec' },
    strategy: {
      applyDefaults: ({ spec }) => {
        spec.disruptionMode ??= { single: {} };
      },
      prepareForCreate: (_context, object) => {
        object.status = {};
      },
      validate: (_context, object) => validatePodGroup(object),
      validateUpdate: (_context, object, old) => validatePodGroup(object, old),
    },
    columns,
    subresources: [statusSubresource<PodGroup>({ keptMetadata: clientMetadata })],
  });
}

function stateOf({ status: { conditions = [] } }: PodGroup): string {
  const disrupted = conditions.find(({ type }) => type === 'DisruptionTarget');
  if (disrupted !== undefined) return disrupted.reason;
  const scheduled = conditions.find(({ type }) => type === 'PodGroupInitiallyScheduled');
  if (scheduled === undefined) return 'Pending';
  return scheduled.status === 'True' ? 'Scheduled' : 'Unschedulable';
}
