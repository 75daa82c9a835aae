import type { AuthorizationDecision, Authorizer } from '../machinery/authorizer.js';

const allow: AuthorizationDecision = Object.freeze({ decision: 'allow', reason: '' });
const noOpinion: AuthorizationDecision = Object.freeze({ decision: 'noOpinion', reason: 'Everything is forbidden.' });

/** Mode `AlwaysAllow`. */
export class AlwaysAllowAuthorizer implements Authorizer {
  authorize(): AuthorizationDecision {
    return allow;
  }
}

/** Mode `AlwaysDeny`: has no opinion, so that what no other module allows is denied. */
export class AlwaysDenyAuthorizer implements Authorizer {
  authorize(): AuthorizationDecision {
    return noOpinion;
  }
}
