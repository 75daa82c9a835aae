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
import { defineResource, type StoredResource } from '../../../objects/registry/resource-definition.js';
import { customResourceDefinitionStrategy } from './custom-resource-definition.strategy.js';
import { statusErrors } from './custom-resource-definition.validation.js';

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
    columns: defaultColumns,
    subresources: [statusSubresource<CustomResourceDefinition>({ validate: ({ status }) => statusErrors(status) })],
  });
}

function declarationOf({ markerPrefix }: VendorNames): KindType<CustomResourceDefinition> {
  if (markerPrefix === upstreamMarkers) return customResourceDefinition;
  return customResourceDefinitionWithMarkers(markerPrefix);
}
