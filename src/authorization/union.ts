import type { AuthorizationDecision, Authorizer, AuthorizerAttributes } from '../machinery/authorizer.js';

/** Asks modules in their configured order: the first that allows or denies decides (specification 5.4). */
export class UnionAuthorizer implements Authorizer {
  constructor(private readonly modules: readonly Authorizer[]) {}

  async authorize(attributes: AuthorizerAttributes): Promise<AuthorizationDecision> {
    const reasons: string[] = [];
    for (const module of this.modules) {
      const asked = module.authorize(attributes);
      const decision = asked instanceof Promise ? await asked : asked;
      if (decision.decision !== 'noOpinion') return decision;
      if (decision.reason !== '') reasons.push(decision.reason);
    }
    return { decision: 'noOpinion', reason: reasons.join('\n') };
  }
}
