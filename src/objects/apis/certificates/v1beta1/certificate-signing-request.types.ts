import {
  always,
  type Infer,
  keyedBy,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { conditionStatus } from '../../core/v1/condition-status.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import {
  certificateSigningRequestConditionFields,
  certificateSigningRequestSpecFields,
  certificateSigningRequestStatusFields,
} from '../v1/certificate-signing-request.types.js';

export const certificateSigningRequestSpec = struct('certificates.v1beta1.CertificateSigningRequestSpec', {
  ...certificateSigningRequestSpecFields,
  signerName: pointer(7, string, { doc: 'Who is to sign.' }),
});
export type CertificateSigningRequestSpec = Infer<typeof certificateSigningRequestSpec>;

export const certificateSigningRequestCondition = struct(
  'certificates.v1beta1.CertificateSigningRequestCondition',
  certificateSigningRequestConditionFields(always(6, conditionStatus, { doc: 'True, False or Unknown.' })),
  { doc: "One aspect of an object's state." },
);
export type CertificateSigningRequestCondition = Infer<typeof certificateSigningRequestCondition>;

export const certificateSigningRequestStatus = struct('certificates.v1beta1.CertificateSigningRequestStatus', {
  ...certificateSigningRequestStatusFields,
  conditions: optional(1, list(certificateSigningRequestCondition), {
    ...keyedBy('type'),
    doc: 'Aspects of the state, each with its reason.',
  }),
});
export type CertificateSigningRequestStatus = Infer<typeof certificateSigningRequestStatus>;

export const certificateSigningRequest = kind(
  { group: 'certificates', version: 'v1beta1', kind: 'CertificateSigningRequest', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, certificateSigningRequestSpec),
    status: always(3, certificateSigningRequestStatus),
  },
  { doc: 'Asks for a certificate to be signed.' },
);
export type CertificateSigningRequest = Infer<typeof certificateSigningRequest>;

export const certificateSigningRequestList = listKind(certificateSigningRequest);
export type CertificateSigningRequestList = Infer<typeof certificateSigningRequestList>;
