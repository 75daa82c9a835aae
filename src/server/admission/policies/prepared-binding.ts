import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { ParamRef } from '../../../objects/apis/admissionregistration/v1/admission-policy-param.types.js';
import type { MatchResources } from '../../../objects/apis/admissionregistration/v1/rule.types.js';
import { type MatchingDependencies, RequestMatcher } from '../matching/request-matcher.js';
import { criteriaOf } from './match-criteria.js';

/** The fields that both kinds of bindings share. */
interface BindingSpec {
  readonly policyName?: string | undefined;
  readonly paramRef?: ParamRef | undefined;
  readonly matchResources?: MatchResources | undefined;
}

/** A binding of either kind prepared for requests. */
export class PreparedBinding<S extends BindingSpec> {
  readonly name: string;
  readonly policyName: string;
  /** Unset if the binding applies to everything that the policy applies to. */
  readonly matcher: RequestMatcher | undefined;

  constructor(
    { metadata }: ApiObject,
    readonly spec: S,
    matching: MatchingDependencies,
  ) {
    this.name = metadata.name ?? '';
    this.policyName = spec.policyName ?? '';
    const { matchResources } = spec;
    this.matcher = matchResources && new RequestMatcher(criteriaOf(matchResources, true), matching);
  }
}
