import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import { formatApiVersion, type GroupVersionKind } from '../../../base/machinery/group-version.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import { applyPatch, conflictsError, updateManagedFields } from '../../../base/machinery/managed-fields/index.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { remoteConversionOf } from '../../../objects/registry/resource-definition.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import { ownershipRules, setManagedFields } from '../../../objects/registry/store/field-owner.js';
import { convertedObject } from '../../../objects/registry/store/remote-conversion.js';
import { type VersionViews, versionViews } from '../../../objects/registry/store/version-views.js';
import type { WriteOptions } from '../negotiation/write-options.js';
import type { ResourceRequest } from '../resource-request.js';

/** The parts of the written request that determine the owners of fields. */
type WrittenPath = Pick<ResourceRequest, 'services' | 'resource' | 'subresource'> & {
  /** The kind of the body, where that matters. */
  readonly kind?: GroupVersionKind;
  readonly context: Pick<RequestContext, 'signal'>;
};

/**
 * Records the field owners after an ordinary write in `metadata.managedFields`; changes `next`. Both objects are in the
 * requested version.
 */
export function trackFields(
  path: WrittenPath,
  { fieldManager }: Pick<WriteOptions, 'fieldManager'>,
  live: ApiObject | undefined,
  next: ApiObject,
): void | Promise<void> {
  const { services, resource, subresource } = path;
  const entriesIn = (versions: VersionViews) => {
    const entries = updateManagedFields(resource.served.type, live, next, {
      manager: fieldManager,
      apiVersion: resource.apiVersion,
      time: formatTime(services.clock.now()),
      versions,
      ...(subresource === undefined ? {} : { subresource: subresource.name }),
      ...ownershipRules(resource.definition, subresource),
    });
    return subresource?.type === 'view' ? withoutTimes(entries, subresource.name) : entries;
  };
  if (!hasRemoteVersions(resource)) {
    setManagedFields(next, entriesIn(versionViews(services.registry, resource)));
    return undefined;
  }
  return inRemoteVersions(path, entriesIn).then((entries) => setManagedFields(next, entries));
}

/** Like in the reference, the owners of fields that are written through a view of the object have no time. */
function withoutTimes(entries: ApiObject['metadata']['managedFields'], view: string): typeof entries {
  return entries?.map((entry) => {
    if (entry.subresource !== view) return entry;
    const { time: _time, ...rest } = entry;
    return rest;
  });
}

/**
 * Merges an applied configuration into the live object and records the resulting field owners (specification 5.9). The
 * result is not decoded yet. Throws a 409 when others own changed fields.
 */
export async function mergeApplied(
  path: WrittenPath,
  { fieldManager, force }: Pick<WriteOptions, 'fieldManager' | 'force'>,
  live: ApiObject | undefined,
  config: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const { services, resource, subresource, kind } = path;
  const unowned =
    subresource?.type === 'view' && kind !== undefined
      ? { apiVersion: formatApiVersion(kind), subresource: subresource.name, path: '.spec.replicas' }
      : undefined;
  const merged = (versions: VersionViews) =>
    applyPatch(resource.served.type, live, config, {
      manager: fieldManager,
      apiVersion: resource.apiVersion,
      time: formatTime(services.clock.now()),
      force,
      unowned,
      lastAppliedAnnotation: services.names.lastAppliedAnnotation,
      versions,
      ...(subresource === undefined ? {} : { subresource: subresource.name }),
      ...ownershipRules(resource.definition, subresource),
    });
  const result = hasRemoteVersions(resource)
    ? await inRemoteVersions(path, merged)
    : merged(versionViews(services.registry, resource));
  if (result.kind === 'conflicts') throw conflictsError(result.conflicts);
  if (subresource?.type === 'view') {
    const merged = result.object as ApiObject;
    setManagedFields(merged, withoutTimes(merged.metadata.managedFields, subresource.name));
  }
  return result.object;
}

/**
 * Runs work on an object in versions that a conversion webhook provides. The work starts again after each missing
 * conversion: it needs the live and the next object in each version that owners use. The work must have no side
 * effects.
 */
async function inRemoteVersions<T>(
  { services, resource, context }: WrittenPath,
  work: (versions: VersionViews) => T,
): Promise<T> {
  const converted = new Map<string, ApiObject>();
  const versions = versionViews(services.registry, resource, (object, apiVersion) => {
    const key = `${apiVersion} ${JSON.stringify(object)}`;
    const found = converted.get(key);
    if (found === undefined) throw new ConversionNeeded(key, object, apiVersion);
    return cloneJson(found);
  });
  for (;;) {
    try {
      return work(versions);
    } catch (error) {
      if (!(error instanceof ConversionNeeded)) throw error;
      const { key, object, apiVersion } = error;
      converted.set(key, (await convertedObject(resource, object, apiVersion, context)) ?? object);
    }
  }
}

function hasRemoteVersions({ definition }: ServedResource): boolean {
  return remoteConversionOf(definition) !== undefined;
}

/** Interrupts the work until the object has been converted. */
class ConversionNeeded extends Error {
  constructor(
    readonly key: string,
    readonly object: ApiObject,
    readonly apiVersion: string,
  ) {
    super(`an object is needed in ${apiVersion}`);
  }
}
