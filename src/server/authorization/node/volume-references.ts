import type { PersistentVolume } from '../../../objects/apis/core/v1/persistent-volume.types.js';
import { referenceKey } from './pod-references.js';

/** The references of a persistent volume. */
export interface VolumeReferences {
  /** Key of the claim bound to the volume; empty when there is none. */
  readonly claim: string;
  /** Keys of the secrets that a node needs to mount it. */
  readonly secrets: readonly string[];
}

interface SecretName {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

/** The claim and the secrets of a volume. Secrets that only controllers use are omitted. */
export function volumeReferences({ spec }: PersistentVolume): VolumeReferences {
  const { claimRef } = spec;
  if (!claimRef) return { claim: '', secrets: [] };
  const home = claimRef.namespace ?? '';
  const secrets = new Set<string>();
  const refer = (secret: SecretName | undefined | null) => {
    if (secret?.name) secrets.add(referenceKey('secret', secret.namespace || home, secret.name));
  };
  const { azureFile } = spec;
  if (azureFile) refer({ name: azureFile.secretName, namespace: azureFile.secretNamespace ?? undefined });
  refer(spec.cephfs?.secretRef);
  refer(spec.cinder?.secretRef);
  refer(spec.flexVolume?.secretRef);
  refer(spec.iscsi?.secretRef);
  refer(spec.rbd?.secretRef);
  refer(spec.scaleIO?.secretRef);
  refer(spec.storageos?.secretRef);
  refer(spec.csi?.nodePublishSecretRef);
  refer(spec.csi?.nodeStageSecretRef);
  refer(spec.csi?.nodeExpandSecretRef);
  return { claim: referenceKey('claim', home, claimRef.name ?? ''), secrets: [...secrets] };
}
