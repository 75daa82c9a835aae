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
} from '../../../machinery/schema/index.js';
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

export const certificateSigningRequestSpec = struct('certificates.v1.CertificateSigningRequestSpec', {
  request: required(1, bytes),
  signerName: required(7, string),
  expirationSeconds: pointer(8, int32),
  usages: optional(5, list(keyUsage)),
  username: optional(2, string),
  uid: optional(3, string),
  groups: optional(4, list(string)),
  extra: optional(6, map(extraValue)),
});
export type CertificateSigningRequestSpec = Infer<typeof certificateSigningRequestSpec>;

export const requestConditionType = enumOf('Approved', 'Denied', 'Failed');
export type RequestConditionType = Infer<typeof requestConditionType>;

export const certificateSigningRequestCondition = struct('certificates.v1.CertificateSigningRequestCondition', {
  type: required(1, requestConditionType),
  status: required(6, conditionStatus),
  reason: optional(2, string),
  message: optional(3, string),
  lastUpdateTime: always(4, time),
  lastTransitionTime: always(5, time),
});
export type CertificateSigningRequestCondition = Infer<typeof certificateSigningRequestCondition>;

export const certificateSigningRequestStatus = struct('certificates.v1.CertificateSigningRequestStatus', {
  conditions: optional(1, list(certificateSigningRequestCondition), keyedBy('type')),
  certificate: optional(2, bytes),
});
export type CertificateSigningRequestStatus = Infer<typeof certificateSigningRequestStatus>;

export const certificateSigningRequest = kind(
  { group: 'certificates', version: 'v1', kind: 'CertificateSigningRequest', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, certificateSigningRequestSpec),
    status: always(3, certificateSigningRequestStatus),
  },
);
export type CertificateSigningRequest = Infer<typeof certificateSigningRequest>;

export const certificateSigningRequestList = listKind(certificateSigningRequest);
export type CertificateSigningRequestList = Infer<typeof certificateSigningRequestList>;
