import { type Authorizer, attributesOf } from '../machinery/authorizer.js';
import { deniedError } from '../machinery/denied-error.js';
import type { RequestContext, UserInfo } from '../machinery/request-context.js';
import type { AdmissionAttributes } from './attributes.js';
import type { AdmissionChain } from './chain.js';

/** Admission as write requests see it. Both phases refuse by throwing a StatusError. */
export class RequestAdmission {
  constructor(
    private readonly chain: AdmissionChain,
    private readonly authorizer: Authorizer,
  ) {}

  /** Mutating phase: may change `attributes.object`, or replace it. */
  admit(attributes: AdmissionAttributes): Promise<void> {
    return this.chain.admit(attributes);
  }

  /** Validating phase, run on the object about to be written. */
  async validate(attributes: AdmissionAttributes): Promise<void> {
    const { operation, context } = attributes;
    if (operation === 'CREATE' && context.requestInfo.verb !== 'create') await this.authorizeCreation(context);
    await this.chain.validate(attributes);
  }

  /** Whether the user may read the object of the request; false also when that can't be determined. */
  async mayRead(context: RequestContext): Promise<boolean> {
    const asked = { ...attributesOf(context.user as UserInfo, context.requestInfo), verb: 'get' };
    try {
      return (await this.authorizer.authorize(asked)).decision === 'allow';
    } catch {
      // The object is already deleted: failing to determine the right must not fail the request.
      return false;
    }
  }

  /**
   * Called when an update or an apply turns out to create its object: only then is it known that the sender also needs
   * the right to create. Throws the 403.
   */
  private async authorizeCreation(context: RequestContext): Promise<void> {
    const asked = { ...attributesOf(context.user as UserInfo, context.requestInfo), verb: 'create' };
    const { decision, reason } = await this.authorizer.authorize(asked);
    if (decision !== 'allow') throw deniedError(asked, reason);
  }
}
