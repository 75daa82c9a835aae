import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatGroupResource } from '../../../base/machinery/group-version.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import type { VolumeAnnotations } from '../../../base/machinery/volume-annotations.js';
import type { StorageClass } from '../../../objects/apis/storage/v1/storage-class.types.js';

export type StoredClass = StorageClass & ApiObject;

/** Drivers that took over from provisioners that were once part of the controller manager. */
const successors: Readonly<Record<string, string>> = {
  'aws-ebs': 'ebs.csi.aws.com',
  'azure-disk': 'disk.csi.azure.com',
  'azure-file': 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  'gce-pd': 'pd.csi.storage.gke.io',
  'portworx-volume': 'pxd.portworx.com',
  'vsphere-volume': 'csi.vsphere.vmware.com',
};

/** Whether a provisioner is named like those built into the controller manager. */
export function isBuiltIn(provisioner: string, labelPrefix: string): boolean {
  return provisioner.startsWith(`${labelPrefix}/`);
}

/** The provisioner of a class, or why it has none. */
export type Provisioner =
  | { readonly kind: 'external'; readonly name: string }
  | { readonly kind: 'none'; readonly message: string };

/** The provisioner of the class with this name. */
export function provisionerOf(
  className: string,
  storageClass: StoredClass | undefined,
  names: VendorNames,
): Provisioner {
  if (storageClass === undefined) {
    const resource = formatGroupResource({ group: groupName('storage', names), resource: 'storageclass' });
    return { kind: 'none', message: `${resource} "${className}" not found` };
  }
  const { provisioner } = storageClass;
  if (!isBuiltIn(provisioner, names.labelPrefix)) return { kind: 'external', name: provisioner };
  const own = provisioner.slice(names.labelPrefix.length + 1);
  const successor = Object.hasOwn(successors, own) ? successors[own] : undefined;
  if (successor !== undefined) return { kind: 'external', name: successor };
  return { kind: 'none', message: `no volume plugin matched name: ${provisioner}` };
}

/** The newest of the default classes; of several of the same age the first by name. */
export function defaultClass(classes: Iterable<StoredClass>, annotations: VolumeAnnotations): StoredClass | undefined {
  let found: StoredClass | undefined;
  for (const one of classes) {
    if (!annotations.defaultClasses.some((key) => one.metadata.annotations?.[key] === 'true')) continue;
    if (found === undefined || isBefore(one, found)) found = one;
  }
  return found;
}

function isBefore(a: StoredClass, b: StoredClass): boolean {
  const since = ({ metadata }: StoredClass) => metadata.creationTimestamp ?? '';
  if (since(a) !== since(b)) return since(a) > since(b);
  return (a.metadata.name ?? '') < (b.metadata.name ?? '');
}
