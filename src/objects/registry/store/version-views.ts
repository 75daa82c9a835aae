import type { ApiObject } from '../../../base/machinery/api-object.js';
import { parseApiVersion } from '../../../base/machinery/group-version.js';
import type { VersionView } from '../../../base/machinery/managed-fields/index.js';
import { decode } from '../../../base/machinery/schema/index.js';
import { isStoredKind } from '../resource-definition.js';
import type { ResourceRegistry, ServedResource } from '../resource-registry.js';
import { toServed, toStored } from './object-codec.js';

/** Shows an object in the version that a managedFields entry names; undefined for a version that is not known. */
export type VersionViews = (apiVersion: string) => VersionView | undefined;

/**
 * The object in other versions, for owners whose entries use those: fields may have other names and places there.
 * Disabled versions are available. Removed versions are available only for a custom kind whose fields have the same
 * names in every version.
 *
 * @param convertOther converts instead of the registry, for kinds with an external converter
 */
export function versionViews(
  registry: Pick<ResourceRegistry, 'findView'>,
  resource: ServedResource,
  convertOther?: (object: ApiObject, apiVersion: string) => ApiObject,
): VersionViews {
  return (apiVersion) => {
    const view = registry.findView(resource, apiVersion);
    if (view === undefined) return isFormerVersion(resource, apiVersion) ? unchangedView(resource) : undefined;
    const convert = (object: ApiObject) => {
      // Conversions need a canonical object, and the result of an apply is not canonical yet. Decoding also makes a
      // copy, which conversions may change.
      const canonical = decode(resource.served.type, object).value as ApiObject;
      if (convertOther !== undefined) return convertOther(canonical, apiVersion);
      return toServed(view, toStored(resource, canonical));
    };
    return { type: view.served.type, convert };
  };
}

/**
 * Whether the version is one that a custom kind may have had before, without a conversion that renames fields. Owners
 * of such a version keep what they own, so that nobody takes it unnoticed and they can still remove it.
 */
function isFormerVersion({ definition }: ServedResource, apiVersion: string): boolean {
  if (!isStoredKind(definition) || definition.definedBy === undefined || definition.conversion !== undefined)
    return false;
  return parseApiVersion(apiVersion)?.group === definition.group;
}

function unchangedView({ served }: ServedResource): VersionView {
  return { type: served.type, convert: (object) => object };
}
