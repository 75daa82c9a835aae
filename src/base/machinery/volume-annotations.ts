import type { VendorNames } from './vendor.js';

/** The annotations of claims and volumes that record how they were bound. */
export interface VolumeAnnotations {
  /** On a claim: both sides of its binding were written once. */
  readonly bindCompleted: string;
  /** The binder set the link of this object: nobody requested that partner. */
  readonly boundByController: string;
  /** On a volume: its provisioner. */
  readonly provisionedBy: string;
  /** On a volume: the driver that took over from its provisioner. */
  readonly migratedTo: string;
  /** On a claim: the provisioner that has to make a volume for it, in today's and in the older spelling. */
  readonly provisioners: readonly string[];
  /** On a claim: the node of its first pod. */
  readonly selectedNode: string;
  /** On both: a class in the older spelling. */
  readonly storageClass: string;
  /** On a class: it is the default. */
  readonly defaultClasses: readonly string[];
}

/** The spellings of a vendor. */
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
