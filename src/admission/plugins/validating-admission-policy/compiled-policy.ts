import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../../apis/admissionregistration/v1/validating-admission-policy.types.js';
import { type CompiledText, compileText, policyEnvironment, types } from '../../../cel/index.js';
import type { ApiObject } from '../../../machinery/api-object.js';
import type { Authorizer } from '../../../machinery/authorizer.js';
import { compileMatchConditions, type MatchConditions } from '../../expressions/match-conditions.js';
import { type MatchingParts, RequestMatcher } from '../../matching/request-matcher.js';
import { criteriaOf } from '../../policies/match-criteria.js';

type Policy = ValidatingAdmissionPolicy & ApiObject;
type Binding = ValidatingAdmissionPolicyBinding & ApiObject;

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
  readonly variables: ReturnType<typeof policyEnvironment>['variables'];
  readonly conditions: MatchConditions;
  readonly validations: readonly CompiledValidation[];
  readonly annotations: readonly { readonly key: string; readonly value: CompiledText; readonly expression: string }[];
}

/** A policy prepared for requests. Its expressions are compiled when the first request matches. */
export class CompiledPolicy {
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

  get expressions(): CompiledExpressions {
    this.compiled ??= this.compile();
    return this.compiled;
  }

  private compile(): CompiledExpressions {
    const { variables, paramKind, matchConditions, validations, auditAnnotations } = this.spec;
    const environment = policyEnvironment(variables ?? [], { hasParams: paramKind !== undefined });
    return {
      variables: environment.variables,
      conditions: compileMatchConditions(matchConditions ?? [], this.authorizer, environment.conditions),
      validations: (validations ?? []).map(({ expression, message = '', messageExpression = '', reason }) => ({
        expression: expression.trim(),
        condition: compileText(expression, environment.full, [types.bool]),
        message: message.trim(),
        messageExpression:
          messageExpression === '' ? undefined : compileText(messageExpression, environment.messages, [types.string]),
        reason: reason ?? '',
      })),
      annotations: (auditAnnotations ?? []).map(({ key, valueExpression }) => ({
        key,
        expression: valueExpression,
        value: compileText(valueExpression, environment.full, [types.string, types.null]),
      })),
    };
  }
}

/** A binding prepared for requests. */
export class CompiledBinding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef: Binding['spec']['paramRef'];
  readonly actions: readonly string[];
  /** Unset if the binding applies to all that the policy applies to. */
  readonly matcher: RequestMatcher | undefined;

  constructor(object: ApiObject, matching: MatchingParts) {
    const { metadata, spec } = object as Binding;
    this.name = metadata.name ?? '';
    this.policyName = spec.policyName ?? '';
    this.paramRef = spec.paramRef;
    this.actions = spec.validationActions ?? [];
    this.matcher =
      spec.matchResources === undefined
        ? undefined
        : new RequestMatcher(criteriaOf(spec.matchResources, true), matching);
  }
}
