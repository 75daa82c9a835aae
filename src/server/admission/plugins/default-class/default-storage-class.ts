import type { ApiObject } from '../../../../base/machinery/api-object.js';
import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import type { SharedListers } from '../../../../objects/registry/informers/shared-listers.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isFor } from '../../refused.js';
import { DefaultClasses } from './default-classes.js';

/** Gives new claims that name no class the default StorageClass (specification 5.5). */
export class DefaultStorageClass implements AdmissionPlugin {
  readonly name = 'DefaultStorageClass';
  private readonly classes: DefaultClasses;
  private readonly classAnnotation: string;

  constructor(listers: Pick<SharedListers, 'of'>, names: VendorNames) {
    const { labelPrefix } = names;
    this.classAnnotation = `volume.beta.${labelPrefix}/storage-class`;
    const annotations = ['storageclass', 'storageclass.beta'].map((name) => `${name}.${labelPrefix}/is-default-class`);
    const resource = { group: groupName('storage', names), resource: 'storageclasses' };
    this.classes = new DefaultClasses(listers, resource, annotations, 'StorageClasses');
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE';
  }

  admit(attributes: AdmissionAttributes): void {
    if (attributes.subresource !== '' || !isFor(attributes, '', 'persistentvolumeclaims')) return;
    const { metadata, spec } = attributes.object as Claim;
    // The empty name is a choice too: the claim wants a volume without a class.
    if (spec.storageClassName !== undefined || metadata.annotations?.[this.classAnnotation] !== undefined) return;
    const name = this.classes.choose(attributes);
    if (name !== undefined) spec.storageClassName = name;
  }
}

type Claim = ApiObject & { readonly spec: { storageClassName?: string | undefined } };
