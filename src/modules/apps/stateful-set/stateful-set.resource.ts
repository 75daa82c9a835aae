import { formatLabelSelector } from '../../../base/machinery/label-selector.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type StatefulSet, statefulSet } from '../../../objects/apis/apps/v1/stateful-set.types.js';
import { scale } from '../../../objects/apis/autoscaling/v1/scale.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { scaleSubresource, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
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
    // Raised because stored templates once had an empty creationTimestamp.
    defaultsRevision: 2,
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
