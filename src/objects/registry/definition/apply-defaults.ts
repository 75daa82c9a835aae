import type { ApiObject } from '../../../base/machinery/api-object.js';
import { isStoredKind } from '../resource-definition.js';
import type { ServedResource } from '../resource-registry.js';

/** Applies the defaults of the kind and of the version to a decoded body, before it is converted. */
export function applyDefaults(resource: ServedResource, object: ApiObject): void {
  resource.served.applyDefaults?.(object);
  const { definition, served } = resource;
  if (isStoredKind(definition) && served === definition.versions[0]) definition.strategy.applyDefaults?.(object);
}
