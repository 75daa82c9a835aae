import {
  always,
  bytes,
  enumOf,
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
  wrappedList,
} from '../../../../base/machinery/schema/index.js';
import { conditionStatus } from '../../core/v1/condition-status.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const keyUsage = enumOf(
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
);
export type KeyUsage = Infer<typeof keyUsage>;

export const extraValue = wrappedList('certificates.v1.ExtraValue', string);
export type ExtraValue = Infer<typeof extraValue>;

/** Fields of the spec, which other versions share. */
export const certificateSigningRequestSpecFields = {
  request: required(1, bytes, { doc: 'The request in PEM, in base64.' }),
  signerName: required(7, string, { doc: 'Who is to sign.' }),
  expirationSeconds: pointer(8, int32, { doc: 'How long the certificate should be valid, in seconds.' }),
  usages: optional(5, list(keyUsage), { doc: 'What the certificate is for.' }),
  username: optional(2, string, { doc: 'Who made the request. Set by the server.' }),
  uid: optional(3, string, { doc: 'Identity of who made it. Set by the server.' }),
  groups: optional(4, list(string), { doc: 'Groups of who made it. Set by the server.' }),
  extra: optional(6, map(extraValue), { doc: 'What else is known about who made it. Set by the server.' }),
};

export const certificateSigningRequestSpec = struct(
  'certificates.v1.CertificateSigningRequestSpec',
  certificateSigningRequestSpecFields,
);
export type CertificateSigningRequestSpec = Infer<typeof certificateSigningRequestSpec>;

export const requestConditionType = enumOf('Approved', 'Denied', 'Failed');
export type RequestConditionType = Infer<typeof requestConditionType>;

/** Fields of a condition; versions differ in how they declare its status. */
export function certificateSigningRequestConditionFields<S>(status: S) {
  return {
    type: required(1, requestConditionType, { doc: 'Name of the aspect.' }),
    status,
    reason: optional(2, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(3, string, { doc: 'Text for people: why the status is so.' }),
    lastUpdateTime: always(4, time, { doc: 'When the condition was last written.' }),
    lastTransitionTime: always(5, time, { doc: 'When the status last changed.' }),
  };
}

export const certificateSigningRequestCondition = struct(
  'certificates.v1.CertificateSigningRequestCondition',
  certificateSigningRequestConditionFields(required(6, conditionStatus, { doc: 'True, False or Unknown.' })),
  { doc: "One aspect of an object's state." },
);
export type CertificateSigningRequestCondition = Infer<typeof certificateSigningRequestCondition>;

/** Fields of the status, which other versions share. */
export const certificateSigningRequestStatusFields = {
  conditions: optional(1, list(certificateSigningRequestCondition), {
    ...keyedBy('type'),
    doc: 'Aspects of the state, each with its reason.',
  }),
  certificate: optional(2, bytes, { doc: 'The signed certificate.' }),
};

export const certificateSigningRequestStatus = struct(
  'certificates.v1.CertificateSigningRequestStatus',
  certificateSigningRequestStatusFields,
);
export type CertificateSigningRequestStatus = Infer<typeof certificateSigningRequestStatus>;

export const certificateSigningRequest = kind(
  { group: 'certificates', version: 'v1', kind: 'CertificateSigningRequest', scope: 'Cluster' },
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
