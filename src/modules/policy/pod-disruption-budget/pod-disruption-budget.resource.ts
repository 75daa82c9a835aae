import type { ApiObject } from '../../../base/machinery/api-object.js';
import { isPathSegmentName } from '../../../base/machinery/names.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type PodDisruptionBudget,
  podDisruptionBudget,
} from '../../../objects/apis/policy/v1/pod-disruption-budget.types.js';
import { podDisruptionBudget as podDisruptionBudgetV1beta1 } from '../../../objects/apis/policy/v1beta1/pod-disruption-budget.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { deprecation } from '../../../objects/registry/definition/served-version.js';
import {
  defineResource,
  type ResourceDefinition,
  type ServedVersion,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { budgetFromV1beta1, budgetToV1beta1, emptySelectorLabel } from './pod-disruption-budget.conversion.js';
import { validatePodDisruptionBudget, validatePodDisruptionBudgetStatus } from './pod-disruption-budget.validation.js';

const columns: readonly TableColumn<PodDisruptionBudget>[] = [
  nameColumn,
  {
    name: 'Min Available',
    type: 'string',
    description: 'Pods that must stay.',
    cell: ({ spec }) => String(spec.minAvailable ?? 'N/A'),
  },
  {
    name: 'Max Unavailable',
    type: 'string',
    description: 'Pods that may be away.',
    cell: ({ spec }) => String(spec.maxUnavailable ?? 'N/A'),
  },
  {
    name: 'Allowed Disruptions',
    type: 'integer',
    description: 'Pods that may be evicted now.',
    cell: ({ status }) => status.disruptionsAllowed,
  },
  ageColumn,
];

/** `poddisruptionbudgets`: how many pods of a set may be evicted at the same time. */
export function podDisruptionBudgetResource(names: VendorNames): ResourceDefinition {
  return defineResource<PodDisruptionBudget>({
    group: groupName('policy', names),
    resource: 'poddisruptionbudgets',
    singular: 'poddisruptionbudget',
    kind: 'PodDisruptionBudget',
    namespaced: true,
    shortNames: ['pdb'],
    versions: [{ version: 'v1', type: podDisruptionBudget }, betaVersion(names)],
    strategyOptions: { generation: 'spec', allowUnconditionalUpdate: false, plainFinalizers: true },
    hidesDeletedCollection: true,
    strategy: {
      validateName: isPathSegmentName,
      prepareForCreate: (_context, object) => {
        object.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
      },
      validate: (_context, object) => validatePodDisruptionBudget(object),
      validateUpdate: (_context, object) => validatePodDisruptionBudget(object),
    },
    columns,
    subresources: [
      {
        type: 'part',
        name: 'status',
        verbs: ['get', 'patch', 'update'],
        resetFields: { 'f:spec': {} },
        prepareForUpdate: (_context, object, old) => {
          object.spec = old.spec;
        },
        // The older version never checked its status, and controllers that use it may rely on that.
        validateUpdate: (context, object) =>
          context.requestInfo.apiVersion === 'v1beta1'
            ? []
            : validatePodDisruptionBudgetStatus(object as PodDisruptionBudget),
      },
    ],
  });
}

function betaVersion(names: VendorNames): ServedVersion {
  const label = emptySelectorLabel(names);
  return {
    version: 'v1beta1',
    type: podDisruptionBudgetV1beta1,
    toStored: (object: ApiObject) => {
      budgetFromV1beta1(object as PodDisruptionBudget, label);
      return object;
    },
    fromStored: (object: ApiObject) => {
      budgetToV1beta1(object as PodDisruptionBudget, label);
      return object;
    },
    deprecated: deprecation({
      group: groupName('policy', names),
      version: 'v1beta1',
      kind: 'PodDisruptionBudget',
      since: '1.21',
      removed: '1.25',
      replacement: 'v1',
    }),
  };
}
