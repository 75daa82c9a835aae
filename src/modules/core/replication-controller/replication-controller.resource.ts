import type { VendorNames } from '../../../base/machinery/vendor.js';
import { scale } from '../../../objects/apis/autoscaling/v1/scale.types.js';
import { containerImages, containerNames, formatLabels } from '../../../objects/apis/core/v1/pod-template-text.js';
import {
  type ReplicationController,
  replicationController,
} from '../../../objects/apis/core/v1/replication-controller.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { scaleSubresource, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { replicationControllerStrategy } from './replication-controller.strategy.js';
import { validateReplicationStatus } from './replication-controller.validation.js';

/** Replication controllers: a number of equal pods, chosen by labels. */
export function replicationControllerResource(names: VendorNames): ResourceDefinition {
  return defineResource<ReplicationController>({
    group: '',
    resource: 'replicationcontrollers',
    singular: 'replicationcontroller',
    kind: 'ReplicationController',
    namespaced: true,
    shortNames: ['rc'],
    categories: ['all'],
    // Raised because stored templates once had an empty creationTimestamp.
    defaultsRevision: 1,
    versions: [{ version: 'v1', type: replicationController }],
    strategy: replicationControllerStrategy({ names }),
    strategyOptions: { generation: 'spec', dependents: 'orphaned' },
    selectableFieldNames: ['status.replicas'],
    selectableFields: ({ status }) => ({ 'status.replicas': String(status.replicas ?? 0) }),
    columns,
    subresources: [
      statusSubresource<ReplicationController>({ validate: (object) => validateReplicationStatus(object) }),
      scaleSubresource<ReplicationController>({
        type: scale,
        replicas: ({ spec }) => spec.replicas ?? 0,
        setReplicas: (parent, replicas) => {
          parent.spec.replicas = replicas;
        },
        currentReplicas: ({ status }) => status.replicas ?? 0,
        selector: ({ spec }) => {
          const text = formatLabels(spec.selector);
          return text === '<none>' ? '' : text;
        },
      }),
    ],
  });
}

const columns: readonly TableColumn<ReplicationController>[] = [
  nameColumn,
  {
    name: 'Desired',
    type: 'integer',
    description: 'Pods wanted.',
    cell: ({ spec }) => spec.replicas ?? 0,
  },
  {
    name: 'Current',
    type: 'integer',
    description: 'Pods there are.',
    cell: ({ status }) => status.replicas ?? 0,
  },
  {
    name: 'Ready',
    type: 'integer',
    description: 'Pods that are ready.',
    cell: ({ status }) => status.readyReplicas ?? 0,
  },
  ageColumn,
  {
    name: 'Containers',
    type: 'string',
    priority: 1,
    description: 'Names of the containers.',
    cell: ({ spec }) => containerNames(spec.template?.spec),
  },
  {
    name: 'Images',
    type: 'string',
    priority: 1,
    description: 'Images of the containers.',
    cell: ({ spec }) => containerImages(spec.template?.spec),
  },
  {
    name: 'Selector',
    type: 'string',
    priority: 1,
    description: 'Labels of the pods that belong to it.',
    cell: ({ spec }) => formatLabels(spec.selector),
  },
];
