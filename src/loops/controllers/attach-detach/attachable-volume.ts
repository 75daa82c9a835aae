import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { PersistentVolume } from '../../../objects/apis/core/v1/persistent-volume.types.js';
import type { Volume } from '../../../objects/apis/core/v1/volume.types.js';
import { type CsiSource, csiUniqueName } from '../../../objects/apis/storage/csi-names.js';
import type { CSIDriver } from '../../../objects/apis/storage/v1/csi-driver.types.js';

export type StoredVolume = PersistentVolume & ApiObject;
export type StoredDriver = CSIDriver & ApiObject;

/** A volume that a node may only mount once it is attached. */
export interface AttachableVolume {
  /** The name of the volume in the status of nodes, the same for all its users. */
  readonly uniqueName: string;
  /** The name of the volume in events: that of the PersistentVolume, or of the volume in the pod. */
  readonly name: string;
  /** The CSI volume; undefined when attaching the volume needs no action. */
  readonly csi: CsiSource | undefined;
  /** Whether the volume may be attached to several nodes. */
  readonly isShared: boolean;
}

const sharedModes: ReadonlySet<string> = new Set(['ReadWriteMany', 'ReadOnlyMany']);

/**
 * How a PersistentVolume is attached; undefined: it needs no attachment. CSI drivers attach volumes of the kinds that
 * they took over.
 *
 * @param driverOf the CSIDriver of a name; a missing one attaches its volumes
 */
export function attachableVolume(
  volume: Readonly<StoredVolume>,
  driverOf: (name: string) => StoredDriver | undefined,
  labelPrefix: string,
): AttachableVolume | undefined {
  const { spec, metadata } = volume;
  const { name = '' } = metadata;
  const modes = spec.accessModes ?? [];
  // Without modes it is unknown whether the volume can be shared: the driver has to refuse what it can't do.
  const isShared = modes.length === 0 || modes.some((mode) => sharedModes.has(mode));
  const csi = csiOf(volume, labelPrefix);
  if (csi !== undefined) {
    if (driverOf(csi.driver)?.spec.attachRequired === false) return undefined;
    return { uniqueName: csiUniqueName(csi, labelPrefix), name, csi, isShared };
  }
  const uniqueName = blockDeviceName(spec, labelPrefix);
  return uniqueName === undefined ? undefined : { uniqueName, name, csi: undefined, isShared };
}

/** How an inline volume of a pod is attached. */
export function attachableInline(volume: Readonly<Volume>, labelPrefix: string): AttachableVolume | undefined {
  const uniqueName = blockDeviceName(volume, labelPrefix);
  return uniqueName === undefined ? undefined : { uniqueName, name: volume.name, csi: undefined, isShared: true };
}

/** The driver and handle of a CSI volume, also for volumes of the kinds that CSI drivers took over. */
export function csiOf({ spec, metadata }: Readonly<StoredVolume>, labelPrefix: string): CsiSource | undefined {
  const { csi, awsElasticBlockStore, gcePersistentDisk, cinder, azureDisk, vsphereVolume } = spec;
  if (csi) return { driver: csi.driver, handle: csi.volumeHandle };
  if (awsElasticBlockStore) {
    // `aws://<zone>/<id>` or the id alone.
    const handle = awsElasticBlockStore.volumeID.split('/').at(-1) ?? '';
    return { driver: 'ebs.csi.aws.com', handle };
  }
  if (gcePersistentDisk) {
    const label = (name: string) => metadata.labels?.[name];
    const zones = label(`topology.${labelPrefix}/zone`) ?? label(`failure-domain.beta.${labelPrefix}/zone`) ?? '';
    const place = diskPlace(zones);
    return {
      driver: 'pd.csi.storage.gke.io',
      handle: `projects/UNSPECIFIED/${place}/disks/${gcePersistentDisk.pdName}`,
    };
  }
  if (cinder) return { driver: 'cinder.csi.openstack.org', handle: cinder.volumeID };
  if (azureDisk) return { driver: 'disk.csi.azure.com', handle: azureDisk.diskURI };
  if (vsphereVolume) return { driver: 'csi.vsphere.vmware.com', handle: vsphereVolume.volumePath };
  return undefined;
}

/** The location of a disk: a zone, or the region of several zones, whose names are separated by two underscores. */
function diskPlace(zones: string): string {
  const [first = '', ...others] = zones.split('__');
  if (first === '') return 'zones/UNSPECIFIED';
  return others.length === 0 ? `zones/${first}` : `regions/${first.slice(0, first.lastIndexOf('-'))}`;
}

/**
 * The name of an iSCSI or Fibre Channel disk. Nodes attach these themselves, but still wait until the status lists
 * them.
 */
function blockDeviceName(
  { iscsi, fc }: Pick<Volume, 'iscsi' | 'fc'> | PersistentVolume['spec'],
  labelPrefix: string,
): string | undefined {
  if (iscsi) return `${labelPrefix}/iscsi/${iscsi.targetPortal}:${iscsi.iqn}:${iscsi.lun}`;
  if (!fc) return undefined;
  const { targetWWNs = [], lun, wwids = [] } = fc;
  if (targetWWNs.length > 0 && lun !== undefined) return `${labelPrefix}/fc/[${targetWWNs.join(' ')}]:${lun}`;
  return wwids.length > 0 ? `${labelPrefix}/fc/[${wwids.join(' ')}]` : undefined;
}
