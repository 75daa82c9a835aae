import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
} from '../../../apis/admissionregistration/v1/mutating-admission-policy.types.js';
import {
  appliedObject,
  type CompiledText,
  compileText,
  mutationFunctions,
  mutationMessages,
  type PolicyEnvironment,
  patchOperations,
  policyEnvironment,
} from '../../../cel/index.js';
import type { ApiObject } from '../../../machinery/api-object.js';
import type { Authorizer } from '../../../machinery/authorizer.js';
import { compileMatchConditions, type MatchConditions } from '../../expressions/match-conditions.js';
import { type MatchingParts, RequestMatcher } from '../../matching/request-matcher.js';
import { criteriaOf } from '../../policies/match-criteria.js';

type Policy = MutatingAdmissionPolicy & ApiObject;
type Binding = MutatingAdmissionPolicyBinding & ApiObject;

/** One change that a policy makes, compiled. */
export interface CompiledMutation {
  readonly patchType: string;
  readonly source: CompiledText;
}

interface CompiledExpressions {
  readonly variables: PolicyEnvironment['variables'];
  readonly conditions: MatchConditions;
  readonly mutations: readonly CompiledMutation[];
}

/** A policy prepared for requests. Its expressions are compiled when the first request matches. */
export class CompiledMutatingPolicy {
  readonly name: string;
  readonly spec: Policy['spec'];
  readonly matcher: RequestMatcher;
  private compiled: CompiledExpressions | undefined;

  constructor(
    object: ApiObject,
    matching: MatchingParts,
    private readonly authorizer: Authorizer,
  ) {
    const { metadata, spec } = object as Policy;
    this.name = metadata.name ?? '';
    this.spec = spec;
    this.matcher = new RequestMatcher(criteriaOf(spec.matchConstraints, false), matching);
  }

  get failsClosed(): boolean {
    return this.spec.failurePolicy !== 'Ignore';
  }

  get isReinvocable(): boolean {
    return this.spec.reinvocationPolicy === 'IfNeeded';
  }

  get expressions(): CompiledExpressions {
    this.compiled ??= this.compile();
    return this.compiled;
  }

  private compile(): CompiledExpressions {
    const { variables, paramKind, matchConditions, mutations } = this.spec;
    const environment = policyEnvironment(variables ?? [], {
      hasParams: paramKind !== undefined,
      functions: mutationFunctions,
      messages: mutationMessages,
    });
    return {
      variables: environment.variables,
      conditions: compileMatchConditions(matchConditions ?? [], this.authorizer, environment.conditions),
      mutations: (mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }) => {
        const isPatch = patchType === 'JSONPatch';
        const text = (isPatch ? jsonPatch : applyConfiguration)?.expression ?? '';
        return { patchType, source: compileText(text, environment.full, [isPatch ? patchOperations : appliedObject]) };
      }),
    };
  }
}

/** A binding prepared for requests. */
export class CompiledMutatingBinding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef: Binding['spec']['paramRef'];
  /** Unset if the binding applies to all that the policy applies to. */
  readonly matcher: RequestMatcher | undefined;

  constructor(object: ApiObject, matching: MatchingParts) {
    const { metadata, spec } = object as Binding;
    this.name = metadata.name ?? '';
    this.policyName = spec.policyName ?? '';
    this.paramRef = spec.paramRef;
    this.matcher =
      spec.matchResources === undefined
        ? undefined
        : new RequestMatcher(criteriaOf(spec.matchResources, true), matching);
  }
}
