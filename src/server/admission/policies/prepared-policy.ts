import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { QueuedResult } from '../../../base/machinery/step-queue.js';
import type { Steps } from '../../../base/machinery/turns.js';
import type { ParamKind } from '../../../objects/apis/admissionregistration/v1/admission-policy-param.types.js';
import type { MatchResources } from '../../../objects/apis/admissionregistration/v1/rule.types.js';
import { compilations } from '../expressions/compilations.js';
import { type MatchingDependencies, RequestMatcher } from '../matching/request-matcher.js';
import { criteriaOf } from './match-criteria.js';

/** The fields that both kinds of policies share. */
interface PolicySpec {
  readonly paramKind?: ParamKind | undefined;
  readonly matchConstraints?: MatchResources | undefined;
  readonly failurePolicy?: string | undefined;
}

/**
 * A policy of either kind, prepared for requests. Its expressions are compiled on arrival, in steps that yield to other
 * work, so that neither the arrival of many policies nor the first request blocks the event loop.
 */
export class PreparedPolicy<S extends PolicySpec, E> {
  readonly name: string;
  readonly matcher: RequestMatcher;
  private readonly compiled: QueuedResult<E>;

  constructor(
    { metadata }: ApiObject,
    readonly spec: S,
    matching: MatchingDependencies,
    compiling: Steps<E>,
  ) {
    this.name = metadata.name ?? '';
    this.matcher = new RequestMatcher(criteriaOf(spec.matchConstraints, false), matching);
    this.compiled = compilations.add(compiling);
  }

  /** Whether a request is refused when the policy can't be evaluated. */
  get failsClosed(): boolean {
    return this.spec.failurePolicy !== 'Ignore';
  }

  /** The compiled expressions; a promise until they are ready. */
  get expressions(): E | Promise<E> {
    return this.compiled.get();
  }
}
