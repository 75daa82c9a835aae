import type { AuthorizationDecision, Authorizer, AuthorizerAttributes } from '../../../base/machinery/authorizer.js';
import { serviceUnavailableError } from '../../../base/machinery/status-error.js';
import { RbacAuthorizer } from './rbac.authorizer.js';

/**
 * How long decisions use the last known policy while the change log can't be read. After that, requests are refused
 * until the policy has been read again, since a revocation might have been missed.
 */
export const maxLostMs = 30_000;

/** Refuses to decide by a policy that may be outdated. */
export class FreshPolicyAuthorizer implements Authorizer {
  constructor(
    private readonly authorizer: RbacAuthorizer,
    private readonly policy: { readonly lostForMs: number },
  ) {}

  /** @throws StatusError 503 while the policy has not been followed for 30 seconds. */
  authorize(attributes: AuthorizerAttributes): AuthorizationDecision {
    if (this.policy.lostForMs > maxLostMs) throw serviceUnavailableError('the access policy could not be read in time');
    return this.authorizer.authorize(attributes);
  }
}
