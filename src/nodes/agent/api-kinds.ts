import type { KindType } from '../../base/machinery/schema/index.js';
import { tokenRequest } from '../../objects/apis/authentication/v1/token-request.types.js';
import { tokenReview } from '../../objects/apis/authentication/v1/token-review.types.js';
import { subjectAccessReview } from '../../objects/apis/authorization/v1/subject-access-review.types.js';
import { certificateSigningRequest } from '../../objects/apis/certificates/v1/certificate-signing-request.types.js';
import {
  clusterTrustBundle,
  clusterTrustBundleList,
} from '../../objects/apis/certificates/v1/cluster-trust-bundle.types.js';
import { podCertificateRequest } from '../../objects/apis/certificates/v1/pod-certificate-request.types.js';
import { lease } from '../../objects/apis/coordination/v1/lease.types.js';
import { configMap } from '../../objects/apis/core/v1/config-map.types.js';
import { event } from '../../objects/apis/core/v1/event.types.js';
import { namespace } from '../../objects/apis/core/v1/namespace.types.js';
import { node } from '../../objects/apis/core/v1/node.types.js';
import { persistentVolume } from '../../objects/apis/core/v1/persistent-volume.types.js';
import { persistentVolumeClaim } from '../../objects/apis/core/v1/persistent-volume-claim.types.js';
import { pod, podList } from '../../objects/apis/core/v1/pod.types.js';
import { secret } from '../../objects/apis/core/v1/secret.types.js';
import { service, serviceList } from '../../objects/apis/core/v1/service.types.js';
import { serviceAccount } from '../../objects/apis/core/v1/service-account.types.js';
import { status } from '../../objects/apis/meta/v1/status.types.js';
import { runtimeClass } from '../../objects/apis/node/v1/runtime-class.types.js';
import { csiDriver } from '../../objects/apis/storage/v1/csi-driver.types.js';
import { csiNode } from '../../objects/apis/storage/v1/csi-node.types.js';
import { volumeAttachment } from '../../objects/apis/storage/v1/volume-attachment.types.js';

/** The kinds of all objects that a node agent reads and writes. */
export const agentKinds: readonly KindType[] = [
  ...[pod, podList, node, event, service, serviceList, lease, status, namespace],
  ...[configMap, secret, serviceAccount, persistentVolume, persistentVolumeClaim, runtimeClass],
  ...[csiDriver, csiNode, volumeAttachment],
  ...[certificateSigningRequest, clusterTrustBundle, clusterTrustBundleList, podCertificateRequest],
  ...[tokenRequest, tokenReview, subjectAccessReview],
] as unknown as readonly KindType[];
