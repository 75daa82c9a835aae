import { rbacResources } from '../../src/modules/rbac/rbac.module.js';
import type { GroupContext } from '../../src/registry/group-context.js';
import type { Storage } from '../../src/storage/storage.interface.js';
import { testGroupContext, testNames } from './definition-tester.js';

/** A context over a real store, with roles and bindings registered. */
export function rbacContext(storage: Storage, names = testNames): GroupContext {
  const context = { ...testGroupContext(names), storage };
  for (const definition of rbacResources(context)) context.registry.register(definition);
  return context;
}
