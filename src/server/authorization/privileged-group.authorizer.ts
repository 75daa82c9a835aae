import {
  type AuthorizationDecision,
  type Authorizer,
  type AuthorizerAttributes,
  privilegedGroup,
} from '../../base/machinery/authorizer.js';

const allow: AuthorizationDecision = Object.freeze({ decision: 'allow', reason: '' });
const noOpinion: AuthorizationDecision = Object.freeze({ decision: 'noOpinion', reason: '' });

/** Allows everything to members of {@link privilegedGroup}, and has no opinion on other users. */
export class PrivilegedGroupAuthorizer implements Authorizer {
  authorize({ user }: AuthorizerAttributes): AuthorizationDecision {
    return user.groups.includes(privilegedGroup) ? allow : noOpinion;
  }
}
