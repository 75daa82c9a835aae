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
} from '../../../machinery/schema/index.js';
import { conditionStatus } from '../../core/v1/condition-status.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { extraValue, keyUsage, requestConditionType } from '../v1/certificate-signing-request.types.js';

export const certificateSigningRequestSpec = struct('certificates.v1beta1.CertificateSigningRequestSpec', {
  request: required(1, bytes),
  signerName: pointer(7, string),
  expirationSeconds: pointer(8, int32),
  usages: optional(5, list(keyUsage)),
  username: optional(2, string),
  uid: optional(3, string),
  groups: optional(4, list(string)),
  extra: optional(6, map(extraValue)),
});
export type CertificateSigningRequestSpec = Infer<typeof certificateSigningRequestSpec>;

export const certificateSigningRequestCondition = struct('certificates.v1beta1.CertificateSigningRequestCondition', {
  type: required(1, requestConditionType),
  status: always(6, conditionStatus),
  reason: optional(2, string),
  message: optional(3, string),
  lastUpdateTime: always(4, time),
  lastTransitionTime: always(5, time),
});
export type CertificateSigningRequestCondition = Infer<typeof certificateSigningRequestCondition>;

export const certificateSigningRequestStatus = struct('certificates.v1beta1.CertificateSigningRequestStatus', {
  conditions: optional(1, list(certificateSigningRequestCondition), keyedBy('type')),
  certificate: optional(2, bytes),
});
export type CertificateSigningRequestStatus = Infer<typeof certificateSigningRequestStatus>;

export const certificateSigningRequest = kind(
  { group: 'certificates', version: 'v1beta1', kind: 'CertificateSigningRequest', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, certificateSigningRequestSpec),
    status: always(3, certificateSigningRequestStatus),
  },
);
export type CertificateSigningRequest = Infer<typeof certificateSigningRequest>;

export const certificateSigningRequestList = listKind(certificateSigningRequest);
export type CertificateSigningRequestList = Infer<typeof certificateSigningRequestList>;
