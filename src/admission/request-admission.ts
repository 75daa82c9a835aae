import { type Authorizer, attributesOf } from '../machinery/authorizer.js';
import { deniedError } from '../machinery/denied-error.js';
import type { RequestContext, UserInfo } from '../machinery/request-context.js';
import type { AdmissionAttributes } from './attributes.js';
import type { AdmissionChain } from './chain.js';

/** Admission as requests that write see it. Both phases refuse by throwing a StatusError. */
export class RequestAdmission {
  constructor(
    private readonly chain: AdmissionChain,
    private readonly authorizer: Authorizer,
  ) {}

  /** Mutating phase: may change `attributes.object`, or replace it. */
  admit(attributes: AdmissionAttributes): Promise<void> {
    return this.chain.admit(attributes);
  }

  /** Validating phase, of what is about to be written. */
  async validate(attributes: AdmissionAttributes): Promise<void> {
    const { operation, context } = attributes;
    if (operation === 'CREATE' && context.requestInfo.verb !== 'create') await this.authorizeCreation(context);
    await this.chain.validate(attributes);
  }

  /** Whether the user may read the object that the request is about; false also when that can't be found out. */
  async mayRead(context: RequestContext): Promise<boolean> {
    const asked = { ...attributesOf(context.user as UserInfo, context.requestInfo), verb: 'get' };
    try {
      return (await this.authorizer.authorize(asked)).decision === 'allow';
    } catch {
      // The object is gone by now: what can't be found out must not make a failure of that.
      return false;
    }
  }

  /**
   * An update or an apply turned out to create its object: only now it is known that the sender needs the right to
   * create as well. Throws the 403.
   */
  private async authorizeCreation(context: RequestContext): Promise<void> {
    const asked = { ...attributesOf(context.user as UserInfo, context.requestInfo), verb: 'create' };
    const { decision, reason } = await this.authorizer.authorize(asked);
    if (decision !== 'allow') throw deniedError(asked, reason);
  }
}
