import { askedSelectors } from '../../../base/machinery/asked-selectors.js';
import type { AuthorizationDecision, Authorizer, AuthorizerAttributes } from '../../../base/machinery/authorizer.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import type { AnswerSource, AuthorizationAnswer, AuthorizationCheck } from '../../../objects/cel/index.js';
import { AnswerPending } from './answer-pending.js';

/**
 * Decisions of the authorizer for the expressions of one request, each requested once. Evaluations are synchronous, but
 * an authorizer may have to call a webhook: then the evaluation is interrupted, and repeated once the decision is
 * known.
 */
export class Answers implements AnswerSource {
  private readonly known = new Map<string, AuthorizationAnswer>();

  constructor(
    private readonly authorizer: Authorizer,
    private readonly user: UserInfo,
  ) {}

  answer(check: AuthorizationCheck): AuthorizationAnswer {
    const key = JSON.stringify(check);
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const asked = this.ask(this.attributesOf(check));
    if (!(asked instanceof Promise)) return this.remember(key, asked);
    throw new AnswerPending(
      asked.then((answer) => {
        this.remember(key, answer);
      }),
    );
  }

  private remember(key: string, answer: AuthorizationAnswer): AuthorizationAnswer {
    this.known.set(key, answer);
    return answer;
  }

  private ask(attributes: AuthorizerAttributes): AuthorizationAnswer | Promise<AuthorizationAnswer> {
    try {
      const decision = this.authorizer.authorize(attributes);
      return decision instanceof Promise ? decision.then(answerOf, failedAnswer) : answerOf(decision);
    } catch (error) {
      return failedAnswer(error);
    }
  }

  private attributesOf(check: AuthorizationCheck): AuthorizerAttributes {
    const { verb, isResourceRequest, namespace, group, resource, subresource, name, path, serviceAccount } = check;
    const { fieldSelector, labelSelector } = check;
    return {
      user: serviceAccount === undefined ? this.user : accountUser(serviceAccount),
      verb,
      isResourceRequest,
      namespace,
      apiGroup: group,
      apiVersion: isResourceRequest ? '*' : '',
      resource,
      subresource,
      name,
      path,
      selectors: isResourceRequest ? askedSelectors(fieldSelector, labelSelector) : undefined,
    };
  }
}

function accountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): UserInfo {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    uid: '',
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    extra: {},
  };
}

function answerOf({ decision, reason }: AuthorizationDecision): AuthorizationAnswer {
  return { allowed: decision === 'allow', reason, error: '' };
}

function failedAnswer(error: unknown): AuthorizationAnswer {
  return { allowed: false, reason: '', error: error instanceof Error ? error.message : String(error) };
}
