import type { ApiObject } from '../../../base/machinery/api-object.js';
import { groupName } from '../../../base/machinery/vendor.js';
import {
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
} from '../../../objects/apis/admissionregistration/v1/validating-admission-policy.types.js';
import { clientMetadata, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { applyMatchDefaults } from './match-resources.validation.js';
import { authorizeParamKind, authorizeParamRef, type PolicyContext } from './param-access.js';
import { policyBindingColumns, policyColumns } from './policy-columns.js';
import { validatePolicyStatus } from './policy-status.validation.js';
import { validateValidatingBinding, validateValidatingPolicy } from './validating-policy.validation.js';

/** `validatingadmissionpolicies`: policies whose expressions may refuse requests. */
export function validatingAdmissionPolicyResource(context: PolicyContext): ResourceDefinition {
  return defineResource<ValidatingAdmissionPolicy>({
    group: groupName('admissionregistration', context.names),
    resource: 'validatingadmissionpolicies',
    singular: 'validatingadmissionpolicy',
    kind: 'ValidatingAdmissionPolicy',
    namespaced: false,
    categories: ['api-extensions'],
    versions: [{ version: 'v1', type: validatingAdmissionPolicy }],
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
          { kind: 'ValidatingAdmissionPolicy', name: metadata?.name ?? '' },
          spec.paramKind,
          old?.spec.paramKind,
        ),
      validate: (_context, object) => validateValidatingPolicy(object as ValidatingAdmissionPolicy & ApiObject),
      validateUpdate: (_context, object, old) =>
        validateValidatingPolicy(
          object as ValidatingAdmissionPolicy & ApiObject,
          old as ValidatingAdmissionPolicy & ApiObject,
        ),
    },
    subresources: [
      statusSubresource<ValidatingAdmissionPolicy>({
        keptMetadata: clientMetadata,
        validate: ({ status }) => validatePolicyStatus(status),
      }),
    ],
    columns: policyColumns<ValidatingAdmissionPolicy>({
      name: 'Validations',
      type: 'integer',
      description: 'Number of validations.',
      cell: ({ spec }) => (spec.validations ?? []).length,
    }),
  });
}

/** `validatingadmissionpolicybindings`: put validating policies into force. */
export function validatingAdmissionPolicyBindingResource(context: PolicyContext): ResourceDefinition {
  return defineResource<ValidatingAdmissionPolicyBinding>({
    group: groupName('admissionregistration', context.names),
    resource: 'validatingadmissionpolicybindings',
    singular: 'validatingadmissionpolicybinding',
    kind: 'ValidatingAdmissionPolicyBinding',
    namespaced: false,
    categories: ['api-extensions'],
    versions: [{ version: 'v1', type: validatingAdmissionPolicyBinding }],
    strategyOptions: { allowUnconditionalUpdate: false, generation: 'spec', plainFinalizers: true },
    strategy: {
      applyDefaults: ({ spec }) => applyMatchDefaults(spec.matchResources),
      authorizeWrite: (request, { spec, metadata }, old) =>
        authorizeParamRef(
          context,
          request,
          { kind: 'ValidatingAdmissionPolicyBinding', name: metadata?.name ?? '' },
          'validatingadmissionpolicies',
          spec,
          old?.spec,
        ),
      validate: (_context, object) => validateValidatingBinding(object),
      validateUpdate: (_context, object) => validateValidatingBinding(object),
    },
    columns: policyBindingColumns<ValidatingAdmissionPolicyBinding>(),
  });
}
