import type { ApiObject } from '../../../../base/machinery/api-object.js';
import type { Authorizer } from '../../../../base/machinery/authorizer.js';
import type { Steps } from '../../../../base/machinery/turns.js';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
} from '../../../../objects/apis/admissionregistration/v1/mutating-admission-policy.types.js';
import {
  appliedObject,
  type CompiledText,
  compileText,
  mutationFunctions,
  mutationMessages,
  type PolicyEnvironment,
  patchOperations,
  policyEnvironmentInSteps,
} from '../../../../objects/cel/index.js';
import { type MatchConditions, matchConditionsInSteps } from '../../expressions/match-conditions.js';
import type { MatchingDependencies } from '../../matching/request-matcher.js';
import { PreparedBinding } from '../../policies/prepared-binding.js';
import { PreparedPolicy } from '../../policies/prepared-policy.js';

type Spec = MutatingAdmissionPolicy['spec'];

/** One mutation of a policy, compiled. */
export interface CompiledMutation {
  readonly patchType: string;
  readonly source: CompiledText;
}

/** The expressions of a policy, compiled. */
interface CompiledExpressions {
  readonly variables: PolicyEnvironment['variables'];
  readonly conditions: MatchConditions;
  readonly mutations: readonly CompiledMutation[];
}

export type CompiledMutatingPolicy = PreparedPolicy<Spec, CompiledExpressions>;
export type CompiledMutatingBinding = PreparedBinding<MutatingAdmissionPolicyBinding['spec']>;

/** Prepares a policy for requests. */
export function compiledMutatingPolicy(
  object: ApiObject,
  matching: MatchingDependencies,
  authorizer: Authorizer,
): CompiledMutatingPolicy {
  const { spec } = object as ApiObject & MutatingAdmissionPolicy;
  return new PreparedPolicy(object, spec, matching, compiling(spec, authorizer));
}

/** Prepares a binding for requests. */
export function compiledMutatingBinding(object: ApiObject, matching: MatchingDependencies): CompiledMutatingBinding {
  return new PreparedBinding(object, (object as ApiObject & MutatingAdmissionPolicyBinding).spec, matching);
}

function* compiling(spec: Spec, authorizer: Authorizer): Steps<CompiledExpressions> {
  const { variables, paramKind, matchConditions } = spec;
  const environment = yield* policyEnvironmentInSteps(variables ?? [], {
    hasParams: paramKind !== undefined,
    functions: mutationFunctions,
    messages: mutationMessages,
  });
  const conditions = yield* matchConditionsInSteps(matchConditions ?? [], authorizer, environment.conditions);
  const mutations: CompiledMutation[] = [];
  for (const { patchType, applyConfiguration, jsonPatch } of spec.mutations ?? []) {
    const isPatch = patchType === 'JSONPatch';
    const text = (isPatch ? jsonPatch : applyConfiguration)?.expression ?? '';
    const source = compileText(text, environment.full, [isPatch ? patchOperations : appliedObject]);
    mutations.push({ patchType, source });
    yield;
  }
  return { variables: environment.variables, conditions, mutations };
}
