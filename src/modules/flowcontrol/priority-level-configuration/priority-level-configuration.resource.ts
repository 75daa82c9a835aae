import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type PriorityLevelConfiguration,
  priorityLevelConfiguration,
} from '../../../objects/apis/flowcontrol/v1/priority-level-configuration.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { clientMetadata, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { validateConditionTypes } from '../condition-types.validation.js';
import { applyPriorityLevelDefaults } from './priority-level-configuration.defaults.js';
import { validatePriorityLevelConfiguration } from './priority-level-configuration.validation.js';

const none = '<none>';

const queuingOf = ({ spec }: PriorityLevelConfiguration) => spec.limited?.limitResponse.queuing;

const columns: readonly TableColumn<PriorityLevelConfiguration>[] = [
  nameColumn,
  { name: 'Type', type: 'string', description: 'Exempt or Limited.', cell: ({ spec }) => spec.type },
  {
    name: 'NominalConcurrencyShares',
    type: 'string',
    description: 'Share of the requests that may run at the same time.',
    cell: ({ spec }) => spec.limited?.nominalConcurrencyShares ?? none,
  },
  {
    name: 'Queues',
    type: 'string',
    description: 'Queues for requests that have to wait.',
    cell: (object) => queuingOf(object)?.queues ?? none,
  },
  {
    name: 'HandSize',
    type: 'string',
    description: 'Queues that one flow is spread over.',
    cell: (object) => queuingOf(object)?.handSize ?? none,
  },
  {
    name: 'QueueLengthLimit',
    type: 'string',
    description: 'Maximum number of requests that wait in one queue.',
    cell: (object) => queuingOf(object)?.queueLengthLimit ?? none,
  },
  ageColumn,
];

/** `prioritylevelconfigurations`: limits for the requests of one level. */
export function priorityLevelConfigurationResource(names: VendorNames): ResourceDefinition {
  return defineResource<PriorityLevelConfiguration>({
    group: groupName('flowcontrol', names),
    resource: 'prioritylevelconfigurations',
    singular: 'prioritylevelconfiguration',
    kind: 'PriorityLevelConfiguration',
    namespaced: false,
    versions: [{ version: 'v1', type: priorityLevelConfiguration }],
    strategyOptions: { generation: 'spec' },
    strategy: {
      applyDefaults: applyPriorityLevelDefaults,
      validate: (_context, object) => validatePriorityLevelConfiguration(object),
      validateUpdate: (_context, object) => validatePriorityLevelConfiguration(object),
    },
    columns,
    subresources: [
      statusSubresource<PriorityLevelConfiguration>({
        keptMetadata: clientMetadata,
        validate: ({ status }) => validateConditionTypes(status.conditions),
      }),
    ],
  });
}
