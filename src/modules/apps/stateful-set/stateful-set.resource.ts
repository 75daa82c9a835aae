import { type StatefulSet, statefulSet } from '../../../apis/apps/v1/stateful-set.types.js';
import { scale } from '../../../apis/autoscaling/v1/scale.types.js';
import { formatLabelSelector } from '../../../machinery/label-selector.js';
import { groupName, type VendorNames } from '../../../machinery/vendor.js';
import { ageColumn, nameColumn } from '../../../registry/definition/default-columns.js';
import { scaleSubresource, statusSubresource } from '../../../registry/definition/parent-subresources.js';
import { defineResource, type ResourceDefinition } from '../../../registry/resource-definition.js';
import { containerColumns } from '../workload-columns.js';
import { statefulSetStrategy } from './stateful-set.strategy.js';
import { validateStatefulSetStatus } from './stateful-set.validation.js';

/** Stateful sets: pods with names and storage of their own. */
export function statefulSetResource(names: VendorNames): ResourceDefinition {
  return defineResource<StatefulSet>({
    group: groupName('apps', names),
    resource: 'statefulsets',
    singular: 'statefulset',
    kind: 'StatefulSet',
    namespaced: true,
    shortNames: ['sts'],
    categories: ['all'],
    // Older templates had an empty creationTimestamp.
    defaultsRevision: 1,
    versions: [{ version: 'v1', type: statefulSet }],
    strategy: statefulSetStrategy({ names }),
    strategyOptions: { generation: 'spec' },
    columns: [
      nameColumn,
      {
        name: 'Ready',
        type: 'string',
        description: 'Pods that are ready, of those wanted.',
        cell: ({ spec, status }) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
      },
      ageColumn,
      ...containerColumns<StatefulSet>(),
    ],
    subresources: [
      statusSubresource<StatefulSet>({ validate: validateStatefulSetStatus }),
      scaleSubresource<StatefulSet>({
        type: scale,
        replicas: ({ spec }) => spec.replicas ?? 0,
        setReplicas: (parent, replicas) => {
          parent.spec.replicas = replicas;
        },
        currentReplicas: ({ status }) => status.replicas,
        selector: ({ spec }) => formatLabelSelector(spec.selector ?? undefined),
      }),
    ],
  });
}
