import type { AuthorizationDecision, Authorizer, AuthorizerAttributes } from '../../base/machinery/authorizer.js';

const noOpinion: AuthorizationDecision = Object.freeze({ decision: 'noOpinion', reason: '' });

/**
 * Asks the authorizers in their configured order; the first that allows or denies decides (specification 5.4). A failing
 * authorizer has no opinion; its error is thrown if no other authorizer decides. Decides synchronously if the authorizers do.
 */
export class UnionAuthorizer implements Authorizer {
  constructor(private readonly authorizers: readonly Authorizer[]) {}

  authorize(attributes: AuthorizerAttributes): Promise<AuthorizationDecision> | AuthorizationDecision {
    const { authorizers } = this;
    let reason = '';
    for (let i = 0; i < authorizers.length; i++) {
      let asked: Promise<AuthorizationDecision> | AuthorizationDecision;
      try {
        asked = (authorizers[i] as Authorizer).authorize(attributes);
      } catch (error) {
        return this.ask(attributes, i + 1, reason, error);
      }
      if (asked instanceof Promise) return this.ask(attributes, i, reason, undefined, asked);
      if (asked.decision !== 'noOpinion') return asked;
      reason = joined(reason, asked.reason);
    }
    return reason === '' ? noOpinion : { decision: 'noOpinion', reason };
  }

  /** Continues with authorizer `from`. `begun` is its pending decision if it was already asked. */
  private async ask(
    attributes: AuthorizerAttributes,
    from: number,
    reasonSoFar: string,
    failure: unknown,
    begun?: Promise<AuthorizationDecision>,
  ): Promise<AuthorizationDecision> {
    let reason = reasonSoFar;
    let failed = failure;
    for (let i = from; i < this.authorizers.length; i++) {
      try {
        const asked =
          i === from && begun !== undefined ? begun : (this.authorizers[i] as Authorizer).authorize(attributes);
        const decision = await asked;
        if (decision.decision !== 'noOpinion') return decision;
        reason = joined(reason, decision.reason);
      } catch (error) {
        failed ??= error;
      }
    }
    if (failed !== undefined) throw failed;
    return { decision: 'noOpinion', reason };
  }
}

function joined(before: string, more: string): string {
  if (more === '') return before;
  return before === '' ? more : `${before}\n${more}`;
}
