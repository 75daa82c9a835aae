import { formatLabelSelector } from '../../../base/machinery/label-selector.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type Deployment, deployment } from '../../../objects/apis/apps/v1/deployment.types.js';
import { scale } from '../../../objects/apis/autoscaling/v1/scale.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { scaleSubresource, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { containerColumns, selectorColumn } from '../workload-columns.js';
import { deploymentStrategy } from './deployment.strategy.js';
import { validateDeploymentStatus } from './deployment.validation.js';

/** Deployments: replicas of a template that is rolled out step by step. */
export function deploymentResource(names: VendorNames): ResourceDefinition {
  return defineResource<Deployment>({
    group: groupName('apps', names),
    resource: 'deployments',
    singular: 'deployment',
    kind: 'Deployment',
    namespaced: true,
    shortNames: ['deploy'],
    categories: ['all'],
    // Raised because stored templates once had an empty creationTimestamp.
    defaultsRevision: 1,
    versions: [{ version: 'v1', type: deployment }],
    strategy: deploymentStrategy({ names }),
    // Controllers copy the annotations of a deployment to its replica sets, so changes of annotations must raise the
    // generation.
    strategyOptions: { generation: ({ spec, metadata }) => [spec, metadata.annotations] },
    columns,
    subresources: [
      statusSubresource<Deployment>({
        keptMetadata: ['labels'],
        validate: validateDeploymentStatus,
      }),
      scaleSubresource<Deployment>({
        type: scale,
        replicas: ({ spec }) => spec.replicas ?? 0,
        setReplicas: (parent, replicas) => {
          parent.spec.replicas = replicas;
        },
        currentReplicas: ({ status }) => status.replicas ?? 0,
        selector: ({ spec }) => formatLabelSelector(spec.selector ?? undefined),
      }),
    ],
  });
}

const columns: readonly TableColumn<Deployment>[] = [
  nameColumn,
  {
    name: 'Ready',
    type: 'string',
    description: 'Pods that are ready, of those wanted.',
    cell: ({ spec, status }) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
  },
  {
    name: 'Up-to-date',
    type: 'string',
    description: 'Pods made from the present template.',
    cell: ({ status }) => status.updatedReplicas ?? 0,
  },
  {
    name: 'Available',
    type: 'string',
    description: 'Pods that have been ready long enough.',
    cell: ({ status }) => status.availableReplicas ?? 0,
  },
  ageColumn,
  ...containerColumns<Deployment>(),
  selectorColumn<Deployment>(),
];
