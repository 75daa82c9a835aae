import type { NonResourceRule, ResourceRule, RuleList, RuleResolver } from '../../base/machinery/authorizer.js';
import type { UserInfo } from '../../base/machinery/request-context.js';

/** The combined rules of all authorizers. */
export class UnionRuleResolver implements RuleResolver {
  constructor(private readonly resolvers: readonly RuleResolver[]) {}

  async rulesFor(user: UserInfo, namespace: string): Promise<RuleList> {
    const resourceRules: ResourceRule[] = [];
    const nonResourceRules: NonResourceRule[] = [];
    const errors: string[] = [];
    let incomplete = false;
    for (const resolver of this.resolvers) {
      const rules = await resolver.rulesFor(user, namespace);
      for (const rule of rules.resourceRules) resourceRules.push(rule);
      for (const rule of rules.nonResourceRules) nonResourceRules.push(rule);
      incomplete ||= rules.incomplete;
      if (rules.evaluationError !== '') errors.push(rules.evaluationError);
    }
    const evaluationError = errors.length > 1 ? `[${errors.join(', ')}]` : (errors[0] ?? '');
    return { resourceRules, nonResourceRules, incomplete, evaluationError };
  }
}
