import { groupName } from '../../../base/machinery/vendor.js';
import {
  type MutatingAdmissionPolicy,
  type MutatingAdmissionPolicyBinding,
  mutatingAdmissionPolicy,
  mutatingAdmissionPolicyBinding,
} from '../../../objects/apis/admissionregistration/v1/mutating-admission-policy.types.js';
import {
  mutatingAdmissionPolicyBinding as bindingV1alpha1,
  mutatingAdmissionPolicy as policyV1alpha1,
} from '../../../objects/apis/admissionregistration/v1alpha1/mutating-admission-policy.types.js';
import {
  mutatingAdmissionPolicyBinding as bindingV1beta1,
  mutatingAdmissionPolicy as policyV1beta1,
} from '../../../objects/apis/admissionregistration/v1beta1/mutating-admission-policy.types.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { applyMatchDefaults } from './match-resources.validation.js';
import { validateMutatingBinding, validateMutatingPolicy } from './mutating-policy.validation.js';
import { authorizeParamKind, authorizeParamRef, type PolicyContext } from './param-access.js';
import { policyBindingColumns, policyColumns } from './policy-columns.js';

/** `mutatingadmissionpolicies`: policies whose expressions may change objects. */
export function mutatingAdmissionPolicyResource(context: PolicyContext): ResourceDefinition {
  return defineResource<MutatingAdmissionPolicy>({
    group: groupName('admissionregistration', context.names),
    resource: 'mutatingadmissionpolicies',
    singular: 'mutatingadmissionpolicy',
    kind: 'MutatingAdmissionPolicy',
    namespaced: false,
    categories: ['api-extensions'],
    versions: [
      { version: 'v1', type: mutatingAdmissionPolicy },
      { version: 'v1beta1', type: policyV1beta1, isOffByDefault: true },
      { version: 'v1alpha1', type: policyV1alpha1 },
    ],
    strategyOptions: { allowUnconditionalUpdate: false, generation: 'spec', plainFinalizers: true },
    strategy: {
      applyDefaults: ({ spec }) => {
        spec.failurePolicy ??= 'Fail';
        applyMatchDefaults(spec.matchConstraints);
      },
      authorizeWrite: (request, { spec, metadata }, old) =>
        authorizeParamKind(
          context,
          request,
          { kind: 'MutatingAdmissionPolicy', name: metadata?.name ?? '' },
          spec.paramKind,
          old?.spec.paramKind,
        ),
      validate: (_context, object) => validateMutatingPolicy(object),
      validateUpdate: (_context, object, old) => validateMutatingPolicy(object, old),
    },
    columns: policyColumns<MutatingAdmissionPolicy>({
      name: 'Mutations',
      type: 'integer',
      description: 'Number of mutations.',
      cell: ({ spec }) => (spec.mutations ?? []).length,
    }),
  });
}

/** `mutatingadmissionpolicybindings`: put mutating policies into force. */
export function mutatingAdmissionPolicyBindingResource(context: PolicyContext): ResourceDefinition {
  return defineResource<MutatingAdmissionPolicyBinding>({
    group: groupName('admissionregistration', context.names),
    resource: 'mutatingadmissionpolicybindings',
    singular: 'mutatingadmissionpolicybinding',
    kind: 'MutatingAdmissionPolicyBinding',
    namespaced: false,
    categories: ['api-extensions'],
    versions: [
      { version: 'v1', type: mutatingAdmissionPolicyBinding },
      { version: 'v1beta1', type: bindingV1beta1, isOffByDefault: true },
      { version: 'v1alpha1', type: bindingV1alpha1 },
    ],
    strategyOptions: { allowUnconditionalUpdate: false, generation: 'spec', plainFinalizers: true },
    strategy: {
      applyDefaults: ({ spec }) => applyMatchDefaults(spec.matchResources),
      authorizeWrite: (request, { spec, metadata }, old) =>
        authorizeParamRef(
          context,
          request,
          { kind: 'MutatingAdmissionPolicyBinding', name: metadata?.name ?? '' },
          'mutatingadmissionpolicies',
          spec,
          old?.spec,
        ),
      validate: (_context, object) => validateMutatingBinding(object),
      validateUpdate: (_context, object) => validateMutatingBinding(object),
    },
    columns: policyBindingColumns<MutatingAdmissionPolicyBinding>(),
  });
}
