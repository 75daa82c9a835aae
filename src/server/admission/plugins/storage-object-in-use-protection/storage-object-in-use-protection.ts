import { formatGroupResource } from '../../../../base/machinery/group-version.js';
import { protectionFinalizers } from '../../../../base/machinery/protection-finalizers.js';
import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';

/**
 * Adds a finalizer to new claims, volumes and volume attributes classes, so that a deleted object remains for as long
 * as it is in use (specification 5.5). The controllers `pvc-protection` and `pv-protection` remove it.
 */
export class StorageObjectInUseProtection implements AdmissionPlugin {
  readonly name = 'StorageObjectInUseProtection';
  private readonly finalizers: ReadonlyMap<string, string>;

  constructor(names: VendorNames) {
    const { claim, volume, attributesClass } = protectionFinalizers(names);
    this.finalizers = new Map([
      ['persistentvolumeclaims', claim],
      ['persistentvolumes', volume],
      [
        formatGroupResource({ group: groupName('storage', names), resource: 'volumeattributesclasses' }),
        attributesClass,
      ],
    ]);
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE';
  }

  admit({ resource, subresource, object }: AdmissionAttributes): void {
    if (subresource !== '' || object === undefined) return;
    const finalizer = this.finalizers.get(formatGroupResource(resource));
    if (finalizer === undefined) return;
    const finalizers = object.metadata.finalizers ?? [];
    if (!finalizers.includes(finalizer)) object.metadata.finalizers = [...finalizers, finalizer];
  }
}
