import type { VendorNames } from './vendor.js';

/** The annotations of claims and volumes that record how they were bound. */
export interface VolumeAnnotations {
  /** On a claim: its binding has been written completely at least once, on both objects. */
  readonly bindCompleted: string;
  /** The binder chose the partner of this object; the user did not request it. */
  readonly boundByController: string;
  /** On a volume: its provisioner. */
  readonly provisionedBy: string;
  /** On a volume: the driver that took over from its provisioner. */
  readonly migratedTo: string;
  /** On a claim: the provisioner that must create a volume for it, in the current and in the older spelling. */
  readonly provisioners: readonly string[];
  /** On a claim: the node of its first pod. */
  readonly selectedNode: string;
  /** On a claim or volume: the storage class, in the older spelling. */
  readonly storageClass: string;
  /** On a storage class: it is the default class. */
  readonly defaultClasses: readonly string[];
}

/** The annotations in the vendor's spelling. */
export function volumeAnnotations({ labelPrefix }: Pick<VendorNames, 'labelPrefix'>): VolumeAnnotations {
  return {
    bindCompleted: `pv.${labelPrefix}/bind-completed`,
    boundByController: `pv.${labelPrefix}/bound-by-controller`,
    provisionedBy: `pv.${labelPrefix}/provisioned-by`,
    migratedTo: `pv.${labelPrefix}/migrated-to`,
    provisioners: [`volume.${labelPrefix}/storage-provisioner`, `volume.beta.${labelPrefix}/storage-provisioner`],
    selectedNode: `volume.${labelPrefix}/selected-node`,
    storageClass: `volume.beta.${labelPrefix}/storage-class`,
    defaultClasses: ['storageclass', 'storageclass.beta'].map((name) => `${name}.${labelPrefix}/is-default-class`),
  };
}
