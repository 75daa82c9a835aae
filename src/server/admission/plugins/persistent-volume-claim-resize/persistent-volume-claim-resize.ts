import type { ApiObject } from '../../../../base/machinery/api-object.js';
import { compareQuantities } from '../../../../base/machinery/values/quantity.js';
import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import type { PersistentVolumeClaim } from '../../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { StorageClass } from '../../../../objects/apis/storage/v1/storage-class.types.js';
import type { ReadLister, SharedListers } from '../../../../objects/registry/informers/shared-listers.js';
import type { ObjectReader } from '../../../../objects/registry/store/storage-reader.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isFor, refused } from '../../refused.js';

/** Refuses larger claims unless they are bound and their class lets volumes grow (specification 5.5). */
export class PersistentVolumeClaimResize implements AdmissionPlugin {
  readonly name = 'PersistentVolumeClaimResize';
  private readonly classAnnotation: string;
  private readonly classes: { readonly group: string; readonly resource: string };
  /** Whether volumes of a class may grow, by class. */
  private readonly expansions: Pick<ReadLister<boolean>, 'get'>;

  constructor(
    listers: Pick<SharedListers, 'of'>,
    private readonly objects: ObjectReader,
    names: VendorNames,
  ) {
    this.classAnnotation = `volume.beta.${names.labelPrefix}/storage-class`;
    this.classes = { group: groupName('storage', names), resource: 'storageclasses' };
    this.expansions = listers.of(this.classes, mayExpand);
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'UPDATE';
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    if (attributes.subresource !== '' || !isFor(attributes, '', 'persistentvolumeclaims')) return;
    const claim = attributes.storedObject as PersistentVolumeClaim | undefined;
    const before = attributes.storedOldObject as PersistentVolumeClaim | undefined;
    const size = claim?.spec.resources.requests?.storage ?? '0';
    const oldSize = before?.spec.resources.requests?.storage ?? '0';
    if (claim === undefined || before === undefined || compareQuantities(size, oldSize) <= 0) return;
    if (before.status.phase !== 'Bound')
      throw refused(attributes, 'Only bound persistent volume claims can be expanded');
    const className = this.classOf(claim);
    const isSame = className !== '' && className === this.classOf(before);
    if (isSame && (await this.allowsExpansion(className))) return;
    const detail =
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
    throw refused(attributes, detail);
  }

  private classOf({ metadata, spec }: PersistentVolumeClaim): string {
    return metadata.annotations?.[this.classAnnotation] ?? spec.storageClassName ?? '';
  }

  private async allowsExpansion(name: string): Promise<boolean> {
    const known = this.expansions.get('', name);
    if (known !== undefined) return known;
    // A class created a moment ago may not be in the cache yet.
    const read = await this.objects.read(this.classes, '', name);
    return read !== undefined && mayExpand(read);
  }
}

function mayExpand(object: ApiObject): boolean {
  return (object as ApiObject as StorageClass).allowVolumeExpansion === true;
}
