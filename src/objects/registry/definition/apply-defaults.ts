import type { ApiObject } from '../../../base/machinery/api-object.js';
import { isStoredKind } from '../resource-definition.js';
import type { ServedResource } from '../resource-registry.js';

/**
 * Applies the defaults of the kind and of the version to a decoded body, before it is converted. Those of the kind are for
 * the stored version, and for versions from which only `apiVersion` differs and that have none of their own.
 */
export function applyDefaults(resource: ServedResource, object: ApiObject): void {
  resource.served.applyDefaults?.(object);
  const { definition, served } = resource;
  if (!isStoredKind(definition)) return;
  const isTwin = served.toStored === undefined && served.applyDefaults === undefined;
  if (served === definition.versions[0] || isTwin) definition.strategy.applyDefaults?.(object);
}
