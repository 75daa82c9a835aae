import { isDeepStrictEqual } from 'node:util';
import { type FieldError, FieldPath, invalid, notSupported, required } from '../../../base/machinery/field-error.js';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  Mutation,
} from '../../../objects/apis/admissionregistration/v1/mutating-admission-policy.types.js';
import {
  appliedObject,
  mutationFunctions,
  mutationMessages,
  type PolicyEnvironment,
  patchOperations,
} from '../../../objects/cel/index.js';
import { ExpressionCheck } from '../expression-check.js';
import { validateBindingSpec, validatePolicySpec } from './policy.validation.js';

const specPath = FieldPath.of('spec');
const patchTypes = ['ApplyConfiguration', 'JSONPatch'];
const reinvocationPolicies = ['IfNeeded', 'Never'];

/** Validates a policy. `old` is the live object of a change. */
export function validateMutatingPolicy({ spec }: MutatingAdmissionPolicy, old?: MutatingAdmissionPolicy): FieldError[] {
  const hasOldNames =
    old !== undefined && isDeepStrictEqual([spec.paramKind, spec.variables], [old.spec.paramKind, old.spec.variables]);
  const check = new ExpressionCheck([], hasOldNames ? expressionsOf(old) : new Set());
  const names = { functions: mutationFunctions, messages: mutationMessages };
  const environment = validatePolicySpec(spec, check, names, true);
  const mutations = spec.mutations ?? [];
  if (mutations.length === 0) {
    check.errors.push(required(specPath.child('mutations'), 'mutations must contain at least one item'));
  }
  for (const [i, mutation] of mutations.entries()) {
    validateMutation(mutation, specPath.child('mutations').index(i), check, environment);
  }
  const { reinvocationPolicy } = spec;
  const path = specPath.child('reinvocationPolicy');
  if (reinvocationPolicy === undefined || reinvocationPolicy === '') check.errors.push(required(path));
  else if (!reinvocationPolicies.includes(reinvocationPolicy)) {
    check.errors.push(notSupported(path, reinvocationPolicy, reinvocationPolicies));
  }
  return check.errors;
}

function validateMutation(
  mutation: Mutation,
  path: FieldPath,
  check: ExpressionCheck,
  environment: PolicyEnvironment,
): void {
  const { patchType, applyConfiguration, jsonPatch } = mutation;
  const { errors } = check;
  if (patchType === '') errors.push(required(path.child('patchType')));
  else if (!patchTypes.includes(patchType)) errors.push(notSupported(path.child('patchType'), patchType, patchTypes));
  const forms = [
    { type: 'ApplyConfiguration', field: 'applyConfiguration', value: applyConfiguration, result: appliedObject },
    { type: 'JSONPatch', field: 'jsonPatch', value: jsonPatch, result: patchOperations },
  ];
  for (const { type, field, value, result } of forms) {
    const at = path.child(field);
    if (patchType === type && value === undefined) {
      errors.push(required(at, `must be specified when patchType is ${type}`));
    } else if (patchType === type && value !== undefined) {
      check.check(value.expression ?? '', at.child('expression'), environment.full, [result]);
    }
  }
  if (!patchTypes.includes(patchType)) return;
  for (const { type, field, value } of forms) {
    if (patchType === type || value === undefined) continue;
    errors.push(invalid(path.child(field), `{${field}}`, `must not be specified when patchType is ${patchType}`));
  }
}

function expressionsOf({ spec }: MutatingAdmissionPolicy): ReadonlySet<string> {
  return new Set([
    ...(spec.mutations ?? []).flatMap(({ applyConfiguration, jsonPatch }) => [
      applyConfiguration?.expression ?? '',
      jsonPatch?.expression ?? '',
    ]),
    ...(spec.matchConditions ?? []).map(({ expression }) => expression),
    ...(spec.variables ?? []).map(({ expression }) => expression),
  ]);
}

/** Validates the binding of a policy. */
export function validateMutatingBinding({ spec }: MutatingAdmissionPolicyBinding): FieldError[] {
  const errors: FieldError[] = [];
  validateBindingSpec(spec, errors, false, true);
  return errors;
}
