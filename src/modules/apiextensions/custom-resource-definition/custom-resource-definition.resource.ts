import type { Clock } from '../../../base/machinery/clock.js';
import type { KindType } from '../../../base/machinery/schema/index.js';
import { groupName, upstreamMarkers, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type CustomResourceDefinition,
  customResourceDefinition,
  customResourceDefinitionWithMarkers,
} from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import { defaultColumns } from '../../../objects/registry/definition/default-columns.js';
import { statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type StoredResource,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { customResourceDefinitionStrategy } from './custom-resource-definition.strategy.js';
import { statusErrors } from './custom-resource-definition.validation.js';

const [name, createdAt] = defaultColumns;

const columns: readonly TableColumn<CustomResourceDefinition>[] = [
  name as TableColumn,
  {
    name: 'Scope',
    type: 'string',
    description: 'Whether its objects have a namespace.',
    cell: ({ spec }) => spec.scope,
  },
  { name: 'Versions', type: 'string', description: 'Versions that are served.', cell: versionsCell },
  createdAt as TableColumn,
  { name: 'Group', type: 'string', priority: 1, description: 'Group of the kind.', cell: ({ spec }) => spec.group },
  { name: 'Kind', type: 'string', priority: 1, description: 'The kind.', cell: ({ spec }) => spec.names.kind },
  {
    name: 'ShortNames',
    type: 'string',
    priority: 1,
    description: 'Short names of the resource.',
    cell: ({ spec }) => (spec.names.shortNames ?? []).join(','),
  },
  {
    name: 'Established',
    type: 'boolean',
    priority: 1,
    description: 'Whether the kind is served.',
    cell: ({ status }) =>
      status.conditions?.some((one) => one.type === 'Established' && one.status === 'True') === true,
  },
];

/** `v1(storage),v2`: versions that are not served are left out. */
function versionsCell({ spec }: CustomResourceDefinition): string {
  const served = (spec.versions ?? []).filter((version) => version.served);
  return served.map((version) => `${version.name}${version.storage ? '(storage)' : ''}`).join(',');
}

/** `customresourcedefinitions`: kinds that users add to the API. A definition stays until its objects are gone. */
export function customResourceDefinitionResource(names: VendorNames, clock: Clock): StoredResource {
  return defineResource<CustomResourceDefinition>({
    group: groupName('apiextensions', names),
    resource: 'customresourcedefinitions',
    singular: 'customresourcedefinition',
    kind: 'CustomResourceDefinition',
    namespaced: false,
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    versions: [{ version: 'v1', type: declarationOf(names) }],
    strategy: customResourceDefinitionStrategy(names, clock),
    strategyOptions: { generation: 'spec', allowUnconditionalUpdate: false, plainFinalizers: true },
    columns,
    subresources: [statusSubresource<CustomResourceDefinition>({ validate: ({ status }) => statusErrors(status) })],
  });
}

function declarationOf({ markerPrefix }: VendorNames): KindType<CustomResourceDefinition> {
  if (markerPrefix === upstreamMarkers) return customResourceDefinition;
  return customResourceDefinitionWithMarkers(markerPrefix);
}
