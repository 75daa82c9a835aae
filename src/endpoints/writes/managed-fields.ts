import type { ApiObject } from '../../machinery/api-object.js';
import { formatTime } from '../../machinery/clock.js';
import type { FieldSet } from '../../machinery/field-set/index.js';
import {
  applyPatch,
  conflictsError,
  updateManagedFields,
  type VersionView,
} from '../../machinery/managed-fields/index.js';
import { decode } from '../../machinery/schema/index.js';
import { isolatesStatus } from '../../registry/metadata/before-create.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { toServed, toStored } from '../../registry/store/object-codec.js';
import type { WriteOptions } from '../negotiation/write-options.js';
import type { ResourceRequest } from '../resource-request.js';
import type { EndpointServices } from '../services.js';

/** The path of the write, which determines the owners of fields. */
type WrittenPath = Pick<ResourceRequest, 'services' | 'resource' | 'subresource'>;

/**
 * Records the field owners after an ordinary write in `metadata.managedFields`; changes `next`. Both objects are in the
 * requested version.
 */
export function trackFields(
  { services, resource, subresource }: WrittenPath,
  { fieldManager }: Pick<WriteOptions, 'fieldManager'>,
  live: ApiObject | undefined,
  next: ApiObject,
): void {
  const entries = updateManagedFields(resource.served.type, live, next, {
    manager: fieldManager,
    apiVersion: resource.apiVersion,
    time: formatTime(services.clock.now()),
    versions: versionViews(services, resource),
    ...(subresource === undefined ? {} : { subresource: subresource.name }),
    ...(live === undefined ? {} : resetOptions(resource, subresource?.name)),
  });
  if (entries === undefined || entries.length === 0) delete next.metadata.managedFields;
  else next.metadata.managedFields = entries;
}

/**
 * Merges an applier's intent into the live object and records the resulting field owners (specification 5.9). The
 * result is not decoded yet. Throws a 409 when others own changed fields.
 */
export function mergeApplied(
  { services, resource, subresource }: WrittenPath,
  { fieldManager, force }: Pick<WriteOptions, 'fieldManager' | 'force'>,
  live: ApiObject | undefined,
  config: Readonly<Record<string, unknown>>,
): unknown {
  const result = applyPatch(resource.served.type, live, config, {
    manager: fieldManager,
    apiVersion: resource.apiVersion,
    time: formatTime(services.clock.now()),
    force,
    lastAppliedAnnotation: services.names.lastAppliedAnnotation,
    versions: versionViews(services, resource),
    ...(subresource === undefined ? {} : { subresource: subresource.name }),
    ...resetOptions(resource, subresource?.name),
  });
  if (result.kind === 'conflicts') throw conflictsError(result.conflicts);
  return result.object;
}

/**
 * The object in other versions, for owners whose entries use those: fields may have other names and places there.
 * Disabled versions are available, unknown ones are not.
 */
function versionViews(
  services: EndpointServices,
  resource: ServedResource,
): (apiVersion: string) => VersionView | undefined {
  return (apiVersion) => {
    const view = services.registry.findView(resource, apiVersion);
    if (view === undefined) return undefined;
    const convert = (object: ApiObject) => {
      // Conversions need a canonical object, and the result of an apply is not canonical yet. Decoding also makes a
      // copy, which conversions may change.
      const canonical = decode(resource.served.type, object).value as ApiObject;
      return toServed(view, toStored(resource, canonical));
    };
    return { type: view.served.type, convert };
  };
}

/** Fields that the path can't change: sending them gives nobody ownership. */
function resetOptions(resource: ServedResource, subresource: string | undefined): { resetFields?: FieldSet } {
  if (subresource === 'status') return { resetFields: allButStatus };
  return subresource === undefined && isolatesStatus(resource.definition) ? { resetFields: onlyStatus } : {};
}

const onlyStatus: FieldSet = { 'f:status': {} };
const allButStatus: FieldSet = { 'f:metadata': {}, 'f:spec': {} };
