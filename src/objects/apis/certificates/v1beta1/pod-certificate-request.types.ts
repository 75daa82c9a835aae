import { always, bytes, type Infer, kind, required, struct } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import {
  podCertificateRequestContentFields,
  podCertificateRequestStatusFields,
  podCertificateRequestTargetFields,
} from '../v1/pod-certificate-request.types.js';

export const podCertificateRequestSpec = struct('certificates.v1beta1.PodCertificateRequestSpec', {
  ...podCertificateRequestTargetFields,
  pkixPublicKey: always(9, bytes),
  proofOfPossession: always(10, bytes),
  ...podCertificateRequestContentFields,
});
export type PodCertificateRequestSpec = Infer<typeof podCertificateRequestSpec>;

export const podCertificateRequestStatus = struct('certificates.v1beta1.PodCertificateRequestStatus', {
  ...podCertificateRequestStatusFields,
});
export type PodCertificateRequestStatus = Infer<typeof podCertificateRequestStatus>;

export const podCertificateRequest = kind(
  { group: 'certificates', version: 'v1beta1', kind: 'PodCertificateRequest', scope: 'Namespaced' },
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
