import { type Service, service } from '../../../objects/apis/core/v1/service.types.js';
import { statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { serviceProxyPath } from '../proxy-path.js';
import { type AllocatorDependencies, ServiceAllocator } from './allocation/service-allocator.js';
import { serviceColumns } from './service.columns.js';
import { serviceStrategy } from './service.strategy.js';
import { validateServiceStatus } from './service.validation.js';

/** Services: names for groups of pods, with addresses and node ports allocated here. */
export function serviceResource(context: AllocatorDependencies): ResourceDefinition {
  const allocator = new ServiceAllocator(context);
  return defineResource<Service>({
    group: '',
    resource: 'services',
    singular: 'service',
    kind: 'Service',
    namespaced: true,
    shortNames: ['svc'],
    categories: ['all'],
    versions: [{ version: 'v1', type: service }],
    strategyOptions: { allowCreateOnUpdate: true, returnsDeletedObject: true },
    strategy: serviceStrategy(allocator, context.names),
    selectableFieldNames: ['spec.clusterIP', 'spec.type'],
    selectableFields: ({ spec }) => ({ 'spec.clusterIP': spec.clusterIP ?? '', 'spec.type': spec.type ?? '' }),
    columns: serviceColumns,
    subresources: [statusSubresource<Service>({ validate: validateServiceStatus }), serviceProxyPath],
    allocatedNames: allocator.allocatedNames,
  });
}
