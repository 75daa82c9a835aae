import { groupName } from '../../../base/machinery/vendor.js';
import type { StoredServedResource } from '../../../objects/registry/resource-registry.js';
import type { WriteAdmission } from '../../../objects/registry/store/admitted-store.js';
import type { ReconcileDependencies } from '../frame/reconcile-loop.js';

/**
 * Dependencies of the loops over definitions. Their registry knows the built-in kinds, whose names no definition can
 * take. Writes bypass the controllers' client, which would decode whole schemas each time.
 */
export interface DefinitionLoopDependencies extends ReconcileDependencies {
  readonly admission?: WriteAdmission | undefined;
}

/** The resource of definitions. @throws Error when it is not registered. */
export function definitionsOf({ registry, names }: ReconcileDependencies): StoredServedResource {
  const group = groupName('apiextensions', names);
  const served = registry.findStoredResource(group, 'v1', 'customresourcedefinitions');
  if (served === undefined) throw new Error('the resource customresourcedefinitions is not registered');
  return served;
}
