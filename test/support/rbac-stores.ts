import { closedAuthorizer, closedRules } from '../../src/base/machinery/authorizer.js';
import { rbacResources } from '../../src/modules/rbac/rbac-api.module.js';
import { ResourceStores } from '../../src/objects/registry/store/resource-stores.js';
import type { Storage } from '../../src/storage/storage.interface.js';
import { testNames, testStores } from './definition-tester.js';

/** Stores over a real database, with roles and bindings registered. */
export function rbacStores(storage: Storage, names = testNames): ResourceStores {
  const stores = testStores(storage);
  const definitions = rbacResources(names, closedAuthorizer, closedRules, stores);
  for (const definition of definitions) stores.registry.register(definition);
  return stores;
}
