import type { ServiceAccountTokenIssuer } from '../../../base/machinery/tokens.js';
import { type ServiceAccount, serviceAccount } from '../../../objects/apis/core/v1/service-account.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { type TokenContext, tokenPath } from './token.subresource.js';

/** ServiceAccounts: identities for pods. Clients can request their tokens if this process can sign. */
export function serviceAccountResource(
  context: TokenContext,
  issuer: ServiceAccountTokenIssuer | undefined,
): ResourceDefinition {
  return defineResource<ServiceAccount>({
    group: '',
    resource: 'serviceaccounts',
    singular: 'serviceaccount',
    kind: 'ServiceAccount',
    namespaced: true,
    shortNames: ['sa'],
    versions: [{ version: 'v1', type: serviceAccount }],
    strategy: {
      prepareForCreate: (_context, object) => cleanSecretReferences(object),
      prepareForUpdate: (_context, object) => cleanSecretReferences(object),
      warnings: (_context, { metadata }) => {
        const key = `${context.names.labelPrefix}/enforce-mountable-secrets`;
        if (metadata.annotations?.[key] === undefined) return [];
        const advice = 'prefer separate namespaces to isolate access to mounted secrets';
        return [`metadata.annotations[${key}]: deprecated in v1.32+; ${advice}`];
      },
    },
    subresources: issuer === undefined ? [] : [tokenPath(context, issuer)],
    strategyOptions: { returnsDeletedObject: true },
    columns: [nameColumn, ageColumn],
  });
}

/** Only the name of a listed secret has a meaning. */
function cleanSecretReferences(object: ServiceAccount): void {
  if (object.secrets === undefined) return;
  object.secrets = object.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}
