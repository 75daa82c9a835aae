import {
  always,
  bytes,
  type Infer,
  int32,
  kind,
  list,
  map,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { condition } from '../../meta/v1/condition.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

/** The fields that all versions have: for which pod, and by whom. */
export const podCertificateRequestTargetFields = {
  signerName: required(1, string),
  podName: required(2, string),
  podUID: required(3, string),
  serviceAccountName: required(4, string),
  serviceAccountUID: required(5, string),
  nodeName: required(6, string),
  nodeUID: required(7, string),
  maxExpirationSeconds: pointer(8, int32, { default: 86400 }),
} as const;

/** The fields that all versions have: what is to be signed. */
export const podCertificateRequestContentFields = {
  stubPKCS10Request: required(12, bytes),
  unverifiedUserAnnotations: optional(11, map(string)),
} as const;

/** The fields of the status that all versions have. */
export const podCertificateRequestStatusFields = {
  conditions: optional(1, list(condition), { ...mergedBy('type'), doc: 'Aspects of the state, each with its reason.' }),
  certificateChain: optional(2, string),
  notBefore: pointer(4, time),
  beginRefreshAt: pointer(5, time),
  notAfter: pointer(6, time),
} as const;

export const podCertificateRequestSpec = struct('certificates.v1.PodCertificateRequestSpec', {
  ...podCertificateRequestTargetFields,
  ...podCertificateRequestContentFields,
});
export type PodCertificateRequestSpec = Infer<typeof podCertificateRequestSpec>;

export const podCertificateRequestStatus = struct('certificates.v1.PodCertificateRequestStatus', {
  ...podCertificateRequestStatusFields,
});
export type PodCertificateRequestStatus = Infer<typeof podCertificateRequestStatus>;

export const podCertificateRequest = kind(
  { group: 'certificates', version: 'v1', kind: 'PodCertificateRequest', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, podCertificateRequestSpec),
    status: always(3, podCertificateRequestStatus),
  },
  { doc: 'Asks for a certificate for a pod.' },
);
export type PodCertificateRequest = Infer<typeof podCertificateRequest>;

export const podCertificateRequestList = listKind(podCertificateRequest);
export type PodCertificateRequestList = Infer<typeof podCertificateRequestList>;
