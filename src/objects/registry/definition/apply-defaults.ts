import type { ApiObject } from '../../../base/machinery/api-object.js';
import { isStoredKind } from '../resource-definition.js';
import type { ServedResource } from '../resource-registry.js';

/**
 * Applies the defaults of the kind and of the version to a decoded body, before it is converted. The defaults of the
 * kind apply to the stored version, and to versions without defaults of their own that differ from it only in
 * `apiVersion`.
 */
export function applyDefaults(resource: ServedResource, object: ApiObject): void {
  resource.served.applyDefaults?.(object);
  const { definition, served } = resource;
  if (!isStoredKind(definition)) return;
  const isTwin = served.toStored === undefined && served.applyDefaults === undefined;
  if (served === definition.versions[0] || isTwin) definition.strategy.applyDefaults?.(object);
}
