import { formatLabelSelector } from '../../../base/machinery/label-selector.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type ReplicaSet, replicaSet } from '../../../objects/apis/apps/v1/replica-set.types.js';
import { scale } from '../../../objects/apis/autoscaling/v1/scale.types.js';
import { applyPodSpecDefaults } from '../../../objects/apis/core/v1/defaults/pod-spec.defaults.js';
import { podNameWarnings, templateWarnings } from '../../../objects/apis/core/v1/template-warnings.js';
import type { PodValidationOptions } from '../../../objects/apis/core/v1/validation/common.validation.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { scaleSubresource, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import type { Strategy } from '../../../objects/registry/strategy.js';
import { containerColumns, countColumn, selectorColumn } from '../workload-columns.js';
import { validateReplicaSet, validateReplicaSetStatus, validateReplicaSetUpdate } from './replica-set.validation.js';

/** Replica sets: a number of equal pods. */
export function replicaSetResource(names: VendorNames): ResourceDefinition {
  return defineResource<ReplicaSet>({
    group: groupName('apps', names),
    resource: 'replicasets',
    singular: 'replicaset',
    kind: 'ReplicaSet',
    namespaced: true,
    shortNames: ['rs'],
    categories: ['all'],
    // Raised because stored templates once had an empty creationTimestamp.
    defaultsRevision: 1,
    versions: [{ version: 'v1', type: replicaSet }],
    strategy: replicaSetStrategy({ names }),
    strategyOptions: { generation: 'spec' },
    columns,
    subresources: [
      statusSubresource<ReplicaSet>({ validate: (object) => validateReplicaSetStatus(object) }),
      scaleSubresource<ReplicaSet>({
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

/** Rules of replica sets. */
function replicaSetStrategy(options: PodValidationOptions): Strategy<ReplicaSet> {
  return {
    applyDefaults({ spec }) {
      applyPodSpecDefaults(spec.template.spec);
      spec.replicas ??= 1;
    },

    prepareForCreate(_context, object) {
      object.status = { replicas: 0 };
    },

    validate: (_context, object) => validateReplicaSet(object, options),
    validateUpdate: (_context, object, old) => validateReplicaSetUpdate(object, old, options),
    warnings: (_context, object, old) => [
      ...podNameWarnings(object.metadata, old),
      ...templateWarnings(object, old, options.names),
    ],
  };
}

const columns: readonly TableColumn<ReplicaSet>[] = [
  nameColumn,
  countColumn<ReplicaSet>('Desired', 'Pods wanted.', ({ spec }) => spec.replicas),
  countColumn<ReplicaSet>('Current', 'Pods there are.', ({ status }) => status.replicas),
  countColumn<ReplicaSet>('Ready', 'Pods that are ready.', ({ status }) => status.readyReplicas),
  ageColumn,
  ...containerColumns<ReplicaSet>(),
  selectorColumn<ReplicaSet>(),
];
