import type { ApiObject } from '../../../base/machinery/api-object.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type FlowSchema, flowSchema } from '../../../objects/apis/flowcontrol/v1/flow-schema.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { clientMetadata, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { validateConditionTypes } from '../condition-types.validation.js';
import { validateFlowSchema } from './flow-schema.validation.js';

const defaultPrecedence = 1000;

const columns: readonly TableColumn<FlowSchema>[] = [
  nameColumn,
  {
    name: 'PriorityLevel',
    type: 'string',
    description: 'Level that matching requests belong to.',
    cell: ({ spec }) => spec.priorityLevelConfiguration.name,
  },
  {
    name: 'MatchingPrecedence',
    type: 'string',
    description: 'Of the schemas that match a request, the one with the lowest number counts.',
    cell: ({ spec }) => spec.matchingPrecedence,
  },
  {
    name: 'DistinguisherMethod',
    type: 'string',
    description: 'What tells one flow from another.',
    cell: ({ spec }) => spec.distinguisherMethod?.type ?? '<none>',
  },
  ageColumn,
  {
    name: 'MissingPL',
    type: 'string',
    description: 'Whether the level is missing.',
    cell: ({ status }) => status.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
  },
];

function byName({ metadata: { name: a = '' } }: ApiObject, { metadata: { name: b = '' } }: ApiObject): number {
  return a < b ? -1 : 1;
}

/** `flowschemas`: which requests belong to which priority level. */
export function flowSchemaResource(names: VendorNames): ResourceDefinition {
  return defineResource<FlowSchema>({
    group: groupName('flowcontrol', names),
    resource: 'flowschemas',
    singular: 'flowschema',
    kind: 'FlowSchema',
    namespaced: false,
    versions: [{ version: 'v1', type: flowSchema }],
    strategyOptions: { generation: 'spec' },
    strategy: {
      applyDefaults: ({ spec }) => {
        spec.matchingPrecedence ||= defaultPrecedence;
      },
      validate: (_context, object) => validateFlowSchema(object),
      validateUpdate: (_context, object) => validateFlowSchema(object),
    },
    columns,
    // Those that are asked first come first.
    rowOrder: (a, b) => a.spec.matchingPrecedence - b.spec.matchingPrecedence || byName(a, b),
    subresources: [
      statusSubresource<FlowSchema>({
        keptMetadata: clientMetadata,
        validate: ({ status }) => validateConditionTypes(status.conditions),
      }),
    ],
  });
}
