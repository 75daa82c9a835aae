import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { Volume, VolumeProjection } from '../../../objects/apis/core/v1/volume.types.js';

/**
 * The first kind of API object that a pod refers to, in the plural; undefined: there is none. Somebody who may give
 * pods to the node past the API must not read API objects with the rights of the node.
 */
export function apiReference(spec: Pod['spec']): string | undefined {
  if (spec.serviceAccountName) return 'serviceaccounts';
  const containers = [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...((spec.ephemeralContainers ?? []) as readonly Container[]),
  ];
  const variables = containers.flatMap(({ env }) => (env ?? []).map(({ valueFrom }) => valueFrom));
  const imports = containers.flatMap(({ envFrom }) => envFrom ?? []);
  const volumes = spec.volumes ?? [];
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? []);
  const hasSecret =
    (spec.imagePullSecrets ?? []).length > 0 ||
    variables.some((from) => from?.secretKeyRef) ||
    imports.some(({ secretRef }) => secretRef) ||
    volumes.some(({ secret, csi }) => secret || csi?.nodePublishSecretRef) ||
    sources.some(({ secret }) => secret);
  if (hasSecret) return 'secrets';
  const hasConfigMap =
    variables.some((from) => from?.configMapKeyRef) ||
    imports.some(({ configMapRef }) => configMapRef) ||
    volumes.some(({ configMap }) => configMap) ||
    sources.some(({ configMap }) => configMap);
  if (hasConfigMap) return 'configmaps';
  if ((spec.resourceClaims ?? []).length > 0) return 'resourceclaims';
  for (const volume of volumes) {
    const reference = volumeReference(volume);
    if (reference !== undefined) return reference;
  }
  return undefined;
}

function volumeReference({ csi, persistentVolumeClaim, ephemeral, projected }: Volume): string | undefined {
  if (csi) return 'csidrivers (via CSI volumes)';
  if (persistentVolumeClaim) return 'persistentvolumeclaims';
  if (ephemeral) return 'persistentvolumeclaims (via ephemeral volumes)';
  return (projected?.sources ?? []).map(sourceReference).find((each) => each !== undefined);
}

function sourceReference({
  serviceAccountToken,
  clusterTrustBundle,
  downwardAPI,
}: VolumeProjection): string | undefined {
  if (serviceAccountToken) return 'serviceaccounts (via projected volumes)';
  if (clusterTrustBundle) return 'clustertrustbundles';
  // All other sources come from the API; only pod fields do not.
  return downwardAPI ? undefined : 'podcertificates';
}
