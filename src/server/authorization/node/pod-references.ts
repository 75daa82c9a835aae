import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Container, EphemeralContainer } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { Volume } from '../../../objects/apis/core/v1/volume.types.js';

/** Kinds of objects in its own namespace that a pod may refer to. */
export type ReferenceKind = 'secret' | 'configmap' | 'claim' | 'device' | 'account';

/** A reference as one string. It is unique because kinds contain no slash. */
export function referenceKey(kind: ReferenceKind, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}

/** The annotation of mirror pods, which nodes create as copies of static pods. */
export function mirrorAnnotation({ labelPrefix }: VendorNames): string {
  return `${labelPrefix}/config.mirror`;
}

/** A pod's node, and the objects that the node needs for the pod. */
export interface PodReferences {
  /** Empty while the pod is not scheduled. */
  readonly node: string;
  readonly keys: readonly string[];
}

/** The references of a pod that has no node yet. */
export const noReferences: PodReferences = { node: '', keys: [] };

/**
 * The node of a pod and the keys of all objects it refers to, each once. A mirror pod counts as referring to nothing:
 * its node created it, and could otherwise read any object by naming it there.
 *
 * @param mirror the annotation of mirror pods
 */
export function podReferences(pod: Pod & ApiObject, mirror: string): PodReferences {
  const { metadata, spec } = pod;
  const node = spec.nodeName ?? '';
  if (node === '') return noReferences;
  if (metadata.annotations?.[mirror] !== undefined) return { node, keys: [] };
  return { node, keys: referencedKeys(pod) };
}

/** The keys of all objects that a pod refers to, mirror pod or not; each once. */
export function referencedKeys({ metadata, spec, status }: Pod & ApiObject): readonly string[] {
  const namespace = metadata.namespace ?? '';
  const keys = new Set<string>();
  const refer = (kind: ReferenceKind, name: string | undefined | null) => {
    if (name) keys.add(referenceKey(kind, namespace, name));
  };
  refer('account', spec.serviceAccountName);
  for (const { name } of spec.imagePullSecrets ?? []) refer('secret', name);
  for (const container of spec.initContainers ?? []) visitContainer(container, refer);
  for (const container of spec.containers ?? []) visitContainer(container, refer);
  for (const container of spec.ephemeralContainers ?? []) visitContainer(container, refer);
  for (const volume of spec.volumes ?? []) visitVolume(volume, metadata.name ?? '', refer);
  // Resource claims: those that the pod names, and those that were created for it.
  for (const { resourceClaimName } of spec.resourceClaims ?? []) refer('device', resourceClaimName);
  for (const { resourceClaimName } of status?.resourceClaimStatuses ?? []) refer('device', resourceClaimName);
  refer('device', status?.extendedResourceClaimStatus?.resourceClaimName);
  return [...keys];
}

/** The names of the secrets that a volume refers to, whatever its kind. */
export function secretsOfVolume(volume: Volume): readonly string[] {
  const names: string[] = [];
  visitVolume(volume, '', (kind, name) => {
    if (kind === 'secret' && name) names.push(name);
  });
  return names;
}

type Refer = (kind: ReferenceKind, name: string | undefined | null) => void;

function visitContainer({ env, envFrom }: Container | EphemeralContainer, refer: Refer): void {
  for (const { configMapRef, secretRef } of envFrom ?? []) {
    refer('configmap', configMapRef?.name);
    refer('secret', secretRef?.name);
  }
  for (const { valueFrom } of env ?? []) {
    refer('configmap', valueFrom?.configMapKeyRef?.name);
    refer('secret', valueFrom?.secretKeyRef?.name);
  }
}

function visitVolume(volume: Volume, podName: string, refer: Refer): void {
  refer('secret', volume.secret?.secretName);
  refer('configmap', volume.configMap?.name);
  refer('claim', volume.persistentVolumeClaim?.claimName);
  // The claim of an ephemeral volume is named after the pod and the volume.
  if (volume.ephemeral) refer('claim', `${podName}-${volume.name}`);
  for (const { secret, configMap } of volume.projected?.sources ?? []) {
    refer('secret', secret?.name);
    refer('configmap', configMap?.name);
  }
  refer('secret', volume.azureFile?.secretName);
  refer('secret', volume.cephfs?.secretRef?.name);
  refer('secret', volume.cinder?.secretRef?.name);
  refer('secret', volume.csi?.nodePublishSecretRef?.name);
  refer('secret', volume.flexVolume?.secretRef?.name);
  refer('secret', volume.iscsi?.secretRef?.name);
  refer('secret', volume.rbd?.secretRef?.name);
  refer('secret', volume.scaleIO?.secretRef?.name);
  refer('secret', volume.storageos?.secretRef?.name);
}
