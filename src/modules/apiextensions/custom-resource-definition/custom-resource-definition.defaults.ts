import type { CustomResourceDefinitionSpec } from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';

const webhookPort = 443;

/** Names that follow from the kind, and no conversion unless one is asked for. Changes `spec`. */
export function applyDefaults(spec: CustomResourceDefinitionSpec): void {
  const { names } = spec;
  names.singular ||= names.kind.toLowerCase();
  if (!names.listKind && names.kind !== '') names.listKind = `${names.kind}List`;
  spec.conversion ??= { strategy: 'None' };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service !== undefined) service.port ??= webhookPort;
}
