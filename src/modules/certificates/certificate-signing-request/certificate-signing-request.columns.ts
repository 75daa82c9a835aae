import type { CertificateSigningRequest } from '../../../objects/apis/certificates/v1/certificate-signing-request.types.js';
import { ageColumn, humanDuration, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import type { TableColumn } from '../../../objects/registry/resource-definition.js';

export const certificateSigningRequestColumns: readonly TableColumn<CertificateSigningRequest>[] = [
  nameColumn,
  ageColumn,
  {
    name: 'SignerName',
    type: 'string',
    description: 'Signer that is asked.',
    cell: ({ spec }) => spec.signerName || '<none>',
  },
  { name: 'Requestor', type: 'string', description: 'User who asks.', cell: ({ spec }) => spec.username ?? '' },
  {
    name: 'RequestedDuration',
    type: 'string',
    description: 'How long the certificate should be valid.',
    cell: ({ spec }) =>
      spec.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000),
  },
  { name: 'Condition', type: 'string', description: 'How far the request got.', cell: conditionCell },
];

function conditionCell({ status }: CertificateSigningRequest): string {
  const types = new Set((status.conditions ?? []).map((condition) => condition.type));
  const parts = [types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending'];
  if (types.has('Failed')) parts.push('Failed');
  if ((status.certificate ?? '') !== '') parts.push('Issued');
  return parts.join(',');
}
