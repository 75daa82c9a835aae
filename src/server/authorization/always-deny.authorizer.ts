import type { AuthorizationDecision, Authorizer, RuleList, RuleResolver } from '../../base/machinery/authorizer.js';

const noOpinion: AuthorizationDecision = Object.freeze({ decision: 'noOpinion', reason: 'Everything is forbidden.' });
const nothing: RuleList = Object.freeze({
  resourceRules: [],
  nonResourceRules: [],
  incomplete: false,
  evaluationError: '',
});

/** Mode `AlwaysDeny`: has no opinion, so a request is denied unless another authorizer allows it. */
export class AlwaysDenyAuthorizer implements Authorizer, RuleResolver {
  authorize(): AuthorizationDecision {
    return noOpinion;
  }

  rulesFor(): RuleList {
    return nothing;
  }
}
