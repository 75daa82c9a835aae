import type { ApiObject } from '../../base/machinery/api-object.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import { volumeAnnotations } from '../../base/machinery/volume-annotations.js';
import type { PersistentVolume } from '../../objects/apis/core/v1/persistent-volume.types.js';
import type { PersistentVolumeClaim } from '../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { StorageClass } from '../../objects/apis/storage/v1/storage-class.types.js';

export type StoredClaim = PersistentVolumeClaim & ApiObject;
export type StoredVolume = PersistentVolume & ApiObject;

/** The provisioner that storage classes name to get simulated volumes. */
export const simulatedProvisioner = 'sim.plinth.dev/volumes';
/** The class that is made if there is no default class. */
export const simulatedClassName = 'simulated';
/** The CSI driver that simulated volumes name. */
export const simulatedDriver = 'sim.plinth.dev';

/** Keeps a volume until its storage is removed. */
export function provisionerFinalizer({ labelPrefix }: VendorNames): string {
  return `external-provisioner.volume.${labelPrefix}/finalizer`;
}

/** The class of simulated volumes, which is the default. */
export function simulatedClass(names: VendorNames): object {
  return {
    apiVersion: `${groupName('storage', names)}/v1`,
    kind: 'StorageClass',
    metadata: {
      name: simulatedClassName,
      annotations: { [volumeAnnotations(names).defaultClasses[0] as string]: 'true' },
    },
    provisioner: simulatedProvisioner,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
  };
}

/** The CSIDriver object of that driver: its volumes need no attaching. */
export function simulatedDriverObject(names: VendorNames): object {
  return {
    apiVersion: `${groupName('storage', names)}/v1`,
    kind: 'CSIDriver',
    metadata: { name: simulatedDriver },
    spec: { attachRequired: false },
  };
}

/** Whether this provisioner was asked for a volume, and the claim has none. */
export function asksForVolume({ metadata, spec }: StoredClaim, names: VendorNames): boolean {
  const { annotations = {}, deletionTimestamp } = metadata;
  const isAsked = volumeAnnotations(names).provisioners.some((key) => annotations[key] === simulatedProvisioner);
  return isAsked && deletionTimestamp === undefined && !spec.volumeName;
}

/**
 * The volume for a claim; undefined when the class belongs to another provisioner or has to wait for the node of a pod.
 */
export function volumeFor(
  claim: StoredClaim,
  storageClass: StorageClass & ApiObject,
  names: VendorNames,
): object | undefined {
  const keys = volumeAnnotations(names);
  const { name, namespace, uid, resourceVersion, annotations = {} } = claim.metadata;
  const { provisioner, reclaimPolicy, mountOptions, volumeBindingMode } = storageClass;
  if (provisioner !== simulatedProvisioner) return undefined;
  if (volumeBindingMode === 'WaitForFirstConsumer' && annotations[keys.selectedNode] === undefined) return undefined;
  const volumeName = `pvc-${uid}`;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: volumeName,
      annotations: { [keys.provisionedBy]: simulatedProvisioner },
      finalizers: [provisionerFinalizer(names)],
    },
    spec: {
      capacity: { storage: claim.spec.resources?.requests?.storage },
      accessModes: claim.spec.accessModes,
      volumeMode: claim.spec.volumeMode,
      persistentVolumeReclaimPolicy: reclaimPolicy ?? 'Delete',
      storageClassName: storageClass.metadata.name,
      ...(mountOptions === undefined ? {} : { mountOptions }),
      claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion },
      csi: {
        driver: simulatedDriver,
        volumeHandle: volumeName,
        volumeAttributes: { 'sim.plinth.dev/claim': `${namespace}/${name}` },
      },
    },
  };
}

/** The next action for a volume of this provisioner. */
export type VolumeStep = 'delete' | 'let go' | undefined;

/**
 * The next step for a volume: volumes with the policy Delete are deleted with their claim, and all others lose the
 * finalizer.
 */
export function nextVolumeStep({ metadata, spec, status }: StoredVolume, names: VendorNames): VolumeStep {
  if (metadata.annotations?.[volumeAnnotations(names).provisionedBy] !== simulatedProvisioner) return undefined;
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const goesWithClaim = spec.persistentVolumeReclaimPolicy === 'Delete';
  if (!isDeleted && goesWithClaim) return status.phase === 'Released' ? 'delete' : undefined;
  const isHeld = metadata.finalizers?.includes(provisionerFinalizer(names)) === true;
  return isHeld && !(goesWithClaim && status.phase === 'Bound') ? 'let go' : undefined;
}
