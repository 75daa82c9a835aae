import {
  always,
  bytes,
  type Infer,
  int32,
  keyedBy,
  kind,
  list,
  map,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { conditionStatus } from '../../core/v1/condition-status.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { extraValue, keyUsage, requestConditionType } from '../v1/certificate-signing-request.types.js';

export const certificateSigningRequestSpec = struct('certificates.v1beta1.CertificateSigningRequestSpec', {
  request: required(1, bytes, { doc: 'The request in PEM, in base64.' }),
  signerName: pointer(7, string, { doc: 'Who is to sign.' }),
  expirationSeconds: pointer(8, int32, { doc: 'How long the certificate should be valid, in seconds.' }),
  usages: optional(5, list(keyUsage), { doc: 'What the certificate is for.' }),
  username: optional(2, string, { doc: 'Who made the request. Set by the server.' }),
  uid: optional(3, string, { doc: 'Identity of who made it. Set by the server.' }),
  groups: optional(4, list(string), { doc: 'Groups of who made it. Set by the server.' }),
  extra: optional(6, map(extraValue), { doc: 'What else is known about who made it. Set by the server.' }),
});
export type CertificateSigningRequestSpec = Infer<typeof certificateSigningRequestSpec>;

export const certificateSigningRequestCondition = struct(
  'certificates.v1beta1.CertificateSigningRequestCondition',
  {
    type: required(1, requestConditionType, { doc: 'Name of the aspect.' }),
    status: always(6, conditionStatus, { doc: 'True, False or Unknown.' }),
    reason: optional(2, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(3, string, { doc: 'Text for people: why the status is so.' }),
    lastUpdateTime: always(4, time, { doc: 'When the condition was last written.' }),
    lastTransitionTime: always(5, time, { doc: 'When the status last changed.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type CertificateSigningRequestCondition = Infer<typeof certificateSigningRequestCondition>;

export const certificateSigningRequestStatus = struct('certificates.v1beta1.CertificateSigningRequestStatus', {
  conditions: optional(1, list(certificateSigningRequestCondition), {
    ...keyedBy('type'),
    doc: 'Aspects of the state, each with its reason.',
  }),
  certificate: optional(2, bytes, { doc: 'The signed certificate.' }),
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
