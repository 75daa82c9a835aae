import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type Ingress, ingress } from '../../../objects/apis/networking/v1/ingress.types.js';
import { statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { ingressColumns } from './ingress.columns.js';
import { validateIngressCreate, validateIngressSpec, validateIngressStatus } from './ingress.validation.js';

/** `ingresses`: rules that route outside traffic to services. */
export function ingressResource(names: VendorNames): ResourceDefinition {
  const classAnnotation = `${names.labelPrefix}/ingress.class`;
  return defineResource<Ingress>({
    group: groupName('networking', names),
    resource: 'ingresses',
    singular: 'ingress',
    kind: 'Ingress',
    namespaced: true,
    shortNames: ['ing'],
    versions: [{ version: 'v1', type: ingress }],
    strategyOptions: { generation: 'spec' },
    hidesDeletedCollection: true,
    strategy: {
      prepareForCreate: (_context, object) => {
        object.status = { loadBalancer: {} };
      },
      validate: (_context, object) => validateIngressCreate(object, classAnnotation),
      validateUpdate: (_context, object) => validateIngressSpec(object.spec),
      warnings: (_context, { metadata }) =>
        metadata.annotations?.[classAnnotation] === undefined
          ? []
          : [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`],
    },
    columns: ingressColumns,
    subresources: [
      statusSubresource<Ingress>({ validate: ({ status }, old) => validateIngressStatus(status, old.status) }),
    ],
  });
}
