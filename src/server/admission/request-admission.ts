import { type Authorizer, attributesOf } from '../../base/machinery/authorizer.js';
import { deniedError } from '../../base/machinery/denied-error.js';
import type { RequestContext, UserInfo } from '../../base/machinery/request-context.js';
import type { AdmissionChain } from './admission-chain.js';
import type { AdmissionAttributes } from './attributes.js';

/** Admission for write requests. Both phases refuse by throwing a StatusError. */
export class RequestAdmission {
  constructor(
    private readonly chain: AdmissionChain,
    private readonly authorizer: Authorizer,
  ) {}

  /** Mutating phase: may change `attributes.object`, or replace it. */
  admit(attributes: AdmissionAttributes): Promise<void> {
    return this.chain.admit(attributes);
  }

  /** Runs before a collection is deleted; its objects then go through both phases. */
  admitCollection(namespace: string): Promise<void> {
    return this.chain.admitCollection(namespace);
  }

  /** Validating phase, run on the object about to be written. */
  async validate(attributes: AdmissionAttributes): Promise<void> {
    const { operation, context } = attributes;
    // Only now is it known that an update or an apply creates its object.
    if (operation === 'CREATE' && context.requestInfo.verb !== 'create') await this.requireRightTo('create', context);
    await this.chain.validate(attributes);
  }

  /**
   * Whether the user may read what the request deletes; false also when that can't be determined.
   *
   * @param verb `get` for one object, `list` for a collection
   */
  async mayRead(context: RequestContext, verb: 'get' | 'list'): Promise<boolean> {
    const asked = { ...attributesOf(context.user as UserInfo, context.requestInfo), verb };
    try {
      return (await this.authorizer.authorize(asked)).decision === 'allow';
    } catch {
      // Failing to determine the right must not fail a delete, which may already have happened.
      return false;
    }
  }

  /**
   * Whether the user still has the right to make the request; true also when that can't be determined.
   *
   * @param verb replaces that of the request
   */
  async isStillAllowed(context: RequestContext, verb: string = context.requestInfo.verb): Promise<boolean> {
    try {
      const asked = { ...attributesOf(context.user as UserInfo, context.requestInfo), verb };
      return (await this.authorizer.authorize(asked)).decision === 'allow';
    } catch {
      return true;
    }
  }

  /** Throws the 403 unless the user also has the right to the requested object with another verb. */
  async requireRightTo(verb: string, context: RequestContext): Promise<void> {
    const asked = { ...attributesOf(context.user as UserInfo, context.requestInfo), verb };
    const { decision, reason } = await this.authorizer.authorize(asked);
    if (decision !== 'allow') throw deniedError(asked, reason);
  }
}
