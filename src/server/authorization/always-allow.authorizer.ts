import type { AuthorizationDecision, Authorizer, RuleList, RuleResolver } from '../../base/machinery/authorizer.js';

const allow: AuthorizationDecision = Object.freeze({ decision: 'allow', reason: '' });
const everything: RuleList = Object.freeze({
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
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
