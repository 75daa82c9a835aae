import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type DaemonSet, daemonSet } from '../../../objects/apis/apps/v1/daemon-set.types.js';
import { formatLabels } from '../../../objects/apis/core/v1/pod-template-text.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { containerColumns, countColumn, selectorColumn } from '../workload-columns.js';
import { daemonSetStrategy } from './daemon-set.strategy.js';
import { validateDaemonSetStatus } from './daemon-set.validation.js';

/** Daemon sets: one pod on every chosen node. */
export function daemonSetResource(names: VendorNames): ResourceDefinition {
  return defineResource<DaemonSet>({
    group: groupName('apps', names),
    resource: 'daemonsets',
    singular: 'daemonset',
    kind: 'DaemonSet',
    namespaced: true,
    shortNames: ['ds'],
    categories: ['all'],
    // Raised because stored templates once had an empty creationTimestamp.
    defaultsRevision: 2,
    versions: [{ version: 'v1', type: daemonSet }],
    strategy: daemonSetStrategy({ names }),
    strategyOptions: { generation: 'spec' },
    columns,
    subresources: [statusSubresource<DaemonSet>({ validate: validateDaemonSetStatus })],
  });
}

const columns: readonly TableColumn<DaemonSet>[] = [
  nameColumn,
  countColumn<DaemonSet>('Desired', 'Nodes that should run a pod.', ({ status }) => status.desiredNumberScheduled),
  countColumn<DaemonSet>('Current', 'Nodes that run a pod and should.', ({ status }) => status.currentNumberScheduled),
  countColumn<DaemonSet>('Ready', 'Nodes whose pod is ready.', ({ status }) => status.numberReady),
  countColumn<DaemonSet>(
    'Up-to-date',
    'Nodes with a pod of the present template.',
    ({ status }) => status.updatedNumberScheduled,
  ),
  countColumn<DaemonSet>(
    'Available',
    'Nodes whose pod has been ready long enough.',
    ({ status }) => status.numberAvailable,
  ),
  {
    name: 'Node Selector',
    type: 'string',
    description: 'Labels of the chosen nodes.',
    cell: ({ spec }) => formatLabels(spec.template.spec.nodeSelector),
  },
  ageColumn,
  ...containerColumns<DaemonSet>(),
  selectorColumn<DaemonSet>(),
];
