import type { ApiObject } from '../../../../base/machinery/api-object.js';
import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import type { SharedListers } from '../../../../objects/registry/informers/shared-listers.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isFor } from '../../refused.js';
import { DefaultClasses } from './default-classes.js';

/** Gives new ingresses that name no class the default IngressClass (specification 5.5). */
export class DefaultIngressClass implements AdmissionPlugin {
  readonly name = 'DefaultIngressClass';
  private readonly classes: DefaultClasses;
  private readonly group: string;
  private readonly classAnnotation: string;

  constructor(listers: Pick<SharedListers, 'of'>, names: VendorNames) {
    const { labelPrefix } = names;
    this.group = groupName('networking', names);
    this.classAnnotation = `${labelPrefix}/ingress.class`;
    const resource = { group: this.group, resource: 'ingressclasses' };
    this.classes = new DefaultClasses(
      listers,
      resource,
      [`ingressclass.${labelPrefix}/is-default-class`],
      'IngressClasses',
    );
  }

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE';
  }

  admit(attributes: AdmissionAttributes): void {
    if (attributes.subresource !== '' || !isFor(attributes, this.group, 'ingresses')) return;
    const { metadata, spec } = attributes.object as Ingress;
    // This annotation is the older way to name a class.
    if (spec.ingressClassName !== undefined || metadata.annotations?.[this.classAnnotation] !== undefined) return;
    const name = this.classes.choose(attributes);
    if (name !== undefined) spec.ingressClassName = name;
  }
}

type Ingress = ApiObject & { readonly spec: { ingressClassName?: string | undefined } };
