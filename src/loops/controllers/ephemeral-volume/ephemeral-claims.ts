import type { ApiObject, OwnerReference } from '../../../base/machinery/api-object.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import type { PersistentVolumeClaim } from '../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { Volume } from '../../../objects/apis/core/v1/volume.types.js';
import { controllerOf, type StoredPod } from '../frame/indexes.js';
import type { DeepPartial } from '../frame/loop-client.js';

export type StoredClaim = PersistentVolumeClaim & ApiObject;

/** The name of the claim of a generic ephemeral volume. */
export function ephemeralClaimName({ metadata }: Readonly<Pod>, volume: Pick<Volume, 'name'>): string {
  return `${metadata.name}-${volume.name}`;
}

/** The generic ephemeral volumes of a pod. */
export function ephemeralVolumes({ spec }: Readonly<Pod>): readonly Volume[] {
  return (spec.volumes ?? []).filter(({ ephemeral }) => ephemeral !== undefined);
}

/** Why a claim can't be that of a pod's ephemeral volume; undefined: it is the pod's. */
export function foreignClaimProblem(pod: Readonly<StoredPod>, claim: Readonly<StoredClaim>): string | undefined {
  if (controllerOf(claim)?.uid === pod.metadata.uid) return undefined;
  const { namespace, name } = pod.metadata;
  const whose = `PVC ${claim.metadata.namespace}/${claim.metadata.name}`;
  return `${whose} was not created for pod ${namespace}/${name} (pod is not owner)`;
}

/** The claim of a generic ephemeral volume, made by its template. The pod manages it, so it is deleted with the pod. */
export function claimFor(pod: Readonly<StoredPod>, volume: Readonly<Volume>): DeepPartial<StoredClaim> {
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  const template = volume.ephemeral?.volumeClaimTemplate;
  const { labels, annotations } = template?.metadata ?? {};
  const owner: OwnerReference = {
    apiVersion: 'v1',
    kind: 'Pod',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  return {
    metadata: {
      name: ephemeralClaimName(pod, volume),
      namespace,
      ...(labels === undefined ? {} : { labels: { ...labels } }),
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ownerReferences: [owner],
    },
    spec: cloneJson(template?.spec ?? {}) as DeepPartial<StoredClaim['spec']>,
  } as DeepPartial<StoredClaim>;
}
