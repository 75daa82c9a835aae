import { createHash } from 'node:crypto';
import { quantityValue } from '../../../base/machinery/values/quantity.js';
import type { PersistentVolume } from '../../../objects/apis/core/v1/persistent-volume.types.js';
import type { PersistentVolumeClaim } from '../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { Volume } from '../../../objects/apis/core/v1/volume.types.js';
import type { CsiSource } from '../../../objects/apis/storage/csi-names.js';
import type { CSIDriver } from '../../../objects/apis/storage/v1/csi-driver.types.js';
import { podUid } from '../pods/pod-form.js';
import { VolumeProblem } from '../volumes/volume-problem.js';

interface SecretPlace {
  readonly namespace: string;
  readonly name: string;
}

/** A volume of a CSI driver as one pod wants it. */
export interface CsiVolume {
  readonly pod: Pod;
  /** The volume's name in the pod. */
  readonly name: string;
  /** Name of the PersistentVolume; for an inline volume, its name in the pod. */
  readonly specName: string;
  readonly source: CsiSource;
  readonly lifecycle: 'Persistent' | 'Ephemeral';
  readonly isBlock: boolean;
  readonly isReadOnly: boolean;
  readonly fsType: string;
  readonly accessModes: readonly string[];
  readonly mountOptions: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  readonly stageSecret: SecretPlace | undefined;
  readonly publishSecret: SecretPlace | undefined;
  readonly expandSecret: SecretPlace | undefined;
  /** Name of the claim in the namespace of the pod. */
  readonly claimName: string | undefined;
  /** The size to which the file system should be expanded; undefined: no expansion is needed. */
  readonly growTo: string | undefined;
}

export interface ClaimedVolume {
  readonly volume: PersistentVolume;
  readonly claim: PersistentVolumeClaim;
}

/** A volume behind a claim. @param name the volume's name in the pod */
export function persistentCsiVolume(
  pod: Pod,
  name: string,
  { volume: { metadata, spec }, claim }: ClaimedVolume,
  isReadOnly: boolean,
): CsiVolume {
  const { csi } = spec;
  if (!csi) throw new VolumeProblem(`persistentvolume "${metadata.name}" is of no CSI driver`);
  const secret = (place: { name?: string; namespace?: string } | null | undefined): SecretPlace | undefined =>
    place?.name ? { name: place.name, namespace: place.namespace ?? '' } : undefined;
  const [size, given] = [spec.capacity?.storage, claim.status.capacity?.storage];
  const isLarger = size !== undefined && given !== undefined && quantityValue(size) > quantityValue(given);
  return {
    pod,
    name,
    specName: metadata.name ?? '',
    source: { driver: csi.driver, handle: csi.volumeHandle },
    lifecycle: 'Persistent',
    isBlock: spec.volumeMode === 'Block',
    isReadOnly,
    fsType: csi.fsType ?? '',
    accessModes: spec.accessModes ?? [],
    mountOptions: spec.mountOptions ?? [],
    attributes: csi.volumeAttributes ?? {},
    stageSecret: secret(csi.nodeStageSecretRef),
    publishSecret: secret(csi.nodePublishSecretRef),
    expandSecret: secret(csi.nodeExpandSecretRef),
    claimName: claim.metadata.name,
    growTo: isLarger ? size : undefined,
  };
}

/** An inline volume, which lives as long as its pod. */
export function inlineCsiVolume(pod: Pod, { name, csi }: Volume): CsiVolume {
  if (!csi) throw new VolumeProblem(`volume "${name}" is of no CSI driver`);
  const handle = `csi-${createHash('sha256')
    .update(`${podUid(pod)}${name}`)
    .digest('hex')}`;
  const secret = csi.nodePublishSecretRef?.name;
  return {
    pod,
    name,
    specName: name,
    source: { driver: csi.driver, handle },
    lifecycle: 'Ephemeral',
    isBlock: false,
    isReadOnly: csi.readOnly === true,
    fsType: csi.fsType ?? '',
    accessModes: ['ReadWriteOnce'],
    mountOptions: [],
    attributes: csi.volumeAttributes ?? {},
    stageSecret: undefined,
    publishSecret: secret ? { namespace: pod.metadata.namespace ?? '', name: secret } : undefined,
    expandSecret: undefined,
    claimName: undefined,
    growTo: undefined,
  };
}

/** @throws VolumeProblem when the driver does not support inline volumes. */
export function checkLifecycle({ lifecycle, source }: CsiVolume, driver: CSIDriver | undefined): void {
  const modes: readonly string[] = driver?.spec.volumeLifecycleModes ?? ['Persistent'];
  if (modes.includes(lifecycle)) return;
  const why = driver === undefined ? '(no CSIDriver object)' : `(only supports ${JSON.stringify(modes)})`;
  throw new VolumeProblem(
    `kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: volume mode "${lifecycle}" not supported ` +
      `by driver ${source.driver} ${why}`,
  );
}

/** Whether the agent changes the group of the volume's files to that of the pod. */
export function isGivenToGroup(
  { isBlock, isReadOnly, fsType, accessModes }: CsiVolume,
  driver: CSIDriver | undefined,
): boolean {
  const policy = driver?.spec.fsGroupPolicy ?? 'ReadWriteOnceWithFSType';
  if (isBlock || isReadOnly || policy === 'None') return false;
  if (policy === 'File') return true;
  return fsType !== '' && accessModes.some((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod');
}

/** Information about the pod that a driver gets if it asks for it. */
export function podInfo({ metadata, spec }: Pod, lifecycle: CsiVolume['lifecycle']): Record<string, string> {
  return {
    'csi.storage.k8s.io/pod.name': metadata.name ?? '',
    'csi.storage.k8s.io/pod.namespace': metadata.namespace ?? '',
    'csi.storage.k8s.io/pod.uid': metadata.uid ?? '',
    'csi.storage.k8s.io/serviceAccount.name': spec.serviceAccountName ?? '',
    'csi.storage.k8s.io/ephemeral': String(lifecycle === 'Ephemeral'),
  };
}

/** A key that is equal for equal volumes. */
export function volumeKey({ driver, handle }: CsiSource): string {
  return JSON.stringify([driver, handle]);
}
