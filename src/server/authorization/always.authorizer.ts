import type { AuthorizationDecision, Authorizer, RuleList, RuleResolver } from '../../base/machinery/authorizer.js';

const allow: AuthorizationDecision = Object.freeze({ decision: 'allow', reason: '' });
const noOpinion: AuthorizationDecision = Object.freeze({ decision: 'noOpinion', reason: 'Everything is forbidden.' });

const everything: RuleList = Object.freeze({
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
  evaluationError: '',
});
const nothing: RuleList = Object.freeze({
  resourceRules: [],
  nonResourceRules: [],
  incomplete: false,
  evaluationError: '',
});

/** Mode `AlwaysAllow`. */
export class AlwaysAllowAuthorizer implements Authorizer, RuleResolver {
  authorize(): AuthorizationDecision {
    return allow;
  }

  rulesFor(): RuleList {
    return everything;
  }
}

/** Mode `AlwaysDeny`: has no opinion, so a request is denied unless another module allows it. */
export class AlwaysDenyAuthorizer implements Authorizer, RuleResolver {
  authorize(): AuthorizationDecision {
    return noOpinion;
  }

  rulesFor(): RuleList {
    return nothing;
  }
}
