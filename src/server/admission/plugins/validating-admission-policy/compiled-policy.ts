import type { ApiObject } from '../../../../base/machinery/api-object.js';
import type { Authorizer } from '../../../../base/machinery/authorizer.js';
import type { Steps } from '../../../../base/machinery/turns.js';
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../../../objects/apis/admissionregistration/v1/validating-admission-policy.types.js';
import {
  type CompiledText,
  compileText,
  type PolicyEnvironment,
  policyEnvironmentInSteps,
  types,
} from '../../../../objects/cel/index.js';
import { type MatchConditions, matchConditionsInSteps } from '../../expressions/match-conditions.js';
import type { MatchingDependencies } from '../../matching/request-matcher.js';
import { PreparedBinding } from '../../policies/prepared-binding.js';
import { PreparedPolicy } from '../../policies/prepared-policy.js';

type Spec = ValidatingAdmissionPolicy['spec'];
type BindingSpec = ValidatingAdmissionPolicyBinding['spec'];

/** One validation of a policy, compiled. */
export interface CompiledValidation {
  readonly expression: string;
  readonly condition: CompiledText;
  readonly message: string;
  readonly messageExpression: CompiledText | undefined;
  readonly reason: string;
}

/** The expressions of a policy, compiled. */
export interface CompiledExpressions {
  readonly variables: PolicyEnvironment['variables'];
  readonly conditions: MatchConditions;
  readonly validations: readonly CompiledValidation[];
  readonly annotations: readonly { readonly key: string; readonly value: CompiledText; readonly expression: string }[];
}

export type CompiledPolicy = PreparedPolicy<Spec, CompiledExpressions>;
export type CompiledPolicyBinding = PreparedBinding<BindingSpec>;

/** Prepares a policy for requests. */
export function compiledPolicy(
  object: ApiObject,
  matching: MatchingDependencies,
  authorizer: Authorizer,
): CompiledPolicy {
  const { spec } = object as ApiObject & ValidatingAdmissionPolicy;
  return new PreparedPolicy(object, spec, matching, compiling(spec, authorizer));
}

/** Prepares a binding for requests. */
export function compiledBinding(object: ApiObject, matching: MatchingDependencies): CompiledPolicyBinding {
  return new PreparedBinding(object, (object as ApiObject & ValidatingAdmissionPolicyBinding).spec, matching);
}

function* compiling(spec: Spec, authorizer: Authorizer): Steps<CompiledExpressions> {
  const { variables, paramKind, matchConditions } = spec;
  const environment = yield* policyEnvironmentInSteps(variables ?? [], { hasParams: paramKind !== undefined });
  const conditions = yield* matchConditionsInSteps(matchConditions ?? [], authorizer, environment.conditions);
  const validations: CompiledValidation[] = [];
  for (const { expression, message = '', messageExpression = '', reason } of spec.validations ?? []) {
    const condition = compileText(expression, environment.full, [types.bool]);
    yield;
    validations.push({
      expression: expression.trim(),
      condition,
      message: message.trim(),
      messageExpression:
        messageExpression === '' ? undefined : compileText(messageExpression, environment.messages, [types.string]),
      reason: reason ?? '',
    });
    yield;
  }
  const annotations = [];
  for (const { key, valueExpression } of spec.auditAnnotations ?? []) {
    const value = compileText(valueExpression, environment.full, [types.string, types.null]);
    annotations.push({ key, expression: valueExpression, value });
    yield;
  }
  return { variables: environment.variables, conditions, validations, annotations };
}
