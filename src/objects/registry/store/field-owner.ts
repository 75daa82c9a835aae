import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { FieldSet } from '../../../base/machinery/field-set/index.js';
import { formatApiVersion } from '../../../base/machinery/group-version.js';
import { type OwnershipRules, updateManagedFields } from '../../../base/machinery/managed-fields/index.js';
import { isolatesStatus } from '../metadata/before-create.js';
import { type ResourceDefinition, remoteConversionOf } from '../resource-definition.js';
import type { ResourceRegistry, StoredServedResource } from '../resource-registry.js';
import type { SubresourceDefinition } from '../subresource-definition.js';
import { versionViews } from './version-views.js';

type FieldEntries = ApiObject['metadata']['managedFields'];

/** Who writes an object without being a client, and when. */
export interface FieldOwner {
  readonly registry: ResourceRegistry;
  readonly manager: string;
  /** RFC 3339 with whole seconds. */
  readonly time: string;
}

/**
 * Records the owners of fields in an object of the stored version that the server or a control loop writes; changes
 * `next`. Both objects are in the stored version.
 *
 * @param part the subresource that is written
 */
export function recordFieldOwner(
  resource: StoredServedResource,
  { registry, manager, time }: FieldOwner,
  live: ApiObject | undefined,
  next: ApiObject,
  part?: SubresourceDefinition,
): void {
  const { definition, served } = resource;
  if (remoteConversionOf(definition) !== undefined) {
    // Updating the managedFields of a kind with an external converter would need a call to it: they stay unchanged.
    const kept = live?.metadata.managedFields;
    if (kept !== undefined) next.metadata.managedFields = kept;
    return;
  }
  const entries = updateManagedFields(served.type, live, next, {
    manager,
    apiVersion: formatApiVersion({ group: definition.group, version: served.version }),
    time,
    versions: versionViews(registry, resource),
    ...(part === undefined ? {} : { subresource: part.name }),
    ...ownershipRules(definition, part),
  });
  setManagedFields(next, entries);
}

/** Puts the owners of fields into an object. */
export function setManagedFields({ metadata }: ApiObject, entries: FieldEntries): void {
  if (entries === undefined || entries.length === 0) delete metadata.managedFields;
  else metadata.managedFields = entries;
}

/** Fields that a path can't change: a manager that sends them does not become their owner. */
export function ownershipRules(
  definition: ResourceDefinition,
  subresource: SubresourceDefinition | undefined,
): OwnershipRules {
  if (subresource === undefined) return isolatesStatus(definition) ? { resetFields: onlyStatus } : {};
  if (subresource.type !== 'part') return {};
  const { resetFields, ownedFields } = subresource;
  return {
    ...(resetFields === undefined ? {} : { resetFields }),
    ...(ownedFields === undefined ? {} : { ownedFields }),
  };
}

const onlyStatus: FieldSet = { 'f:status': {} };
