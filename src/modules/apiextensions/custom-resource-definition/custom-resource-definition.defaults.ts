import type { CustomResourceDefinitionSpec } from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import { fillMarkers } from '../../../objects/custom-resources/structural/index.js';

const webhookPort = 443;

/**
 * Fills in the names that follow from the kind, the conversion `None`, and merge markers under their usual names.
 * Changes `spec`.
 */
export function applyDefinitionDefaults(spec: CustomResourceDefinitionSpec): void {
  const { names } = spec;
  names.singular ||= names.kind.toLowerCase();
  if (!names.listKind && names.kind !== '') names.listKind = `${names.kind}List`;
  for (const { schema } of spec.versions ?? []) {
    if (schema?.openAPIV3Schema !== undefined) fillMarkers(schema.openAPIV3Schema);
  }
  spec.conversion ??= { strategy: 'None' };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service !== undefined) service.port ??= webhookPort;
}
