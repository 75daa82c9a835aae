import { FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type Eviction, eviction } from '../../../objects/apis/lifecycle/v1alpha1/eviction.types.js';
import { validateConditions } from '../../../objects/apis/meta/v1/validation/condition.validation.js';
import { clientMetadata, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { validateTarget } from '../eviction-target.js';
import { evictionColumns } from './eviction.columns.js';

const targetPath = FieldPath.of('spec', 'target');

/** `evictions`: the progress of requested evictions of pods. */
export function evictionResource(names: VendorNames): ResourceDefinition {
  return defineResource<Eviction>({
    group: groupName('lifecycle', names),
    resource: 'evictions',
    singular: 'eviction',
    kind: 'Eviction',
    namespaced: true,
    versions: [{ version: 'v1alpha1', type: eviction, neededGate: 'EvictionRequestAPI' }],
    strategyOptions: { generation: 'spec' },
    strategy: {
      prepareForCreate: (_context, object) => {
        object.status = {};
      },
      validate: (_context, { spec }) => validateTarget(spec.target, targetPath),
      validateUpdate: (_context, { spec: { target } }, { spec: { target: old } }) =>
        deepEqual(target, old) ? [] : [invalid(targetPath, target, 'field is immutable')],
    },
    columns: evictionColumns,
    subresources: [
      statusSubresource<Eviction>({
        keptMetadata: clientMetadata,
        validate: ({ status }) => validateConditions(status.conditions, FieldPath.of('status', 'conditions')),
      }),
    ],
  });
}
