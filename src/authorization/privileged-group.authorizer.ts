import type { AuthorizationDecision, Authorizer, AuthorizerAttributes } from '../machinery/authorizer.js';

/** Members may do everything, whatever the modules say: nobody can be locked out by a broken policy. */
export const privilegedGroup = 'system:masters';

const allow: AuthorizationDecision = Object.freeze({ decision: 'allow', reason: '' });
const noOpinion: AuthorizationDecision = Object.freeze({ decision: 'noOpinion', reason: '' });

/** Allows everything to members of {@link privilegedGroup}, and has no opinion about anybody else. */
export class PrivilegedGroupAuthorizer implements Authorizer {
  authorize({ user }: AuthorizerAttributes): AuthorizationDecision {
    return user.groups.includes(privilegedGroup) ? allow : noOpinion;
  }
}
