import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuthorizationDecision, Authorizer, AuthorizerAttributes } from '../../base/machinery/authorizer.js';
import { AlwaysAllowAuthorizer } from './always-allow.authorizer.js';
import { AlwaysDenyAuthorizer } from './always-deny.authorizer.js';
import { PrivilegedGroupAuthorizer } from './privileged-group.authorizer.js';
import { UnionAuthorizer } from './union.authorizer.js';
import { UnionRuleResolver } from './union-rule-resolver.js';

const user = { name: 'alice', uid: '', groups: ['devs'], extra: {} };
const attributes: AuthorizerAttributes = {
  user,
  verb: 'get',
  isResourceRequest: true,
  namespace: '',
  apiGroup: '',
  apiVersion: 'v1',
  resource: 'pods',
  subresource: '',
  name: '',
  path: '/api/v1/pods',
};

type Answer = AuthorizationDecision['decision'] | 'fails';

/** An authorizer with a fixed decision, immediate or delayed, that counts its calls. */
class Fixed implements Authorizer {
  asked = 0;

  constructor(
    private readonly answer: Answer,
    private readonly later: boolean,
  ) {}

  authorize(): Promise<AuthorizationDecision> | AuthorizationDecision {
    this.asked++;
    if (this.later) return Promise.resolve().then(() => this.decision());
    return this.decision();
  }

  private decision(): AuthorizationDecision {
    if (this.answer === 'fails') throw new Error('broken');
    return { decision: this.answer, reason: `${this.answer} it is` };
  }
}

describe('UnionAuthorizer', () => {
  const cases: [Answer[], AuthorizationDecision['decision'] | 'fails', number][] = [
    [['allow', 'deny'], 'allow', 1],
    [['deny', 'allow'], 'deny', 1],
    [['noOpinion', 'allow'], 'allow', 2],
    [['noOpinion', 'noOpinion'], 'noOpinion', 2],
    [['fails', 'allow'], 'allow', 2],
    [['fails', 'deny'], 'deny', 2],
    [['fails', 'noOpinion'], 'fails', 2],
    [['noOpinion', 'fails'], 'fails', 2],
  ];
  for (const later of [
    [false, false],
    [true, true],
    [false, true],
    [true, false],
  ]) {
    for (const [answers, expected, asked] of cases) {
      it(`${answers.join(', then ')} (${later.map((l) => (l ? 'later' : 'at once')).join(', ')}): ${expected}`, async () => {
        const authorizers = answers.map((answer, i) => new Fixed(answer, later[i] === true));
        const union = new UnionAuthorizer(authorizers);
        const decide = async () => union.authorize(attributes);
        if (expected === 'fails') await assert.rejects(decide, /broken/);
        else assert.equal((await decide()).decision, expected);
        assert.equal(
          authorizers.reduce((sum, authorizer) => sum + authorizer.asked, 0),
          asked,
        );
      });
    }
  }

  it('gives the reasons of all authorizers that abstain', async () => {
    const union = new UnionAuthorizer([new Fixed('noOpinion', false), new Fixed('noOpinion', true)]);
    const { reason } = await union.authorize(attributes);
    assert.equal(reason, 'noOpinion it is\nnoOpinion it is');
  });

  it('answers at once when its authorizers do', () => {
    const answer = new UnionAuthorizer([new AlwaysDenyAuthorizer(), new AlwaysAllowAuthorizer()]).authorize(attributes);
    assert.ok(!(answer instanceof Promise));
    assert.equal(answer.decision, 'allow');
  });
});

describe('PrivilegedGroupAuthorizer', () => {
  it('allows everything to system:masters and has no opinion about others', () => {
    const authorizer = new PrivilegedGroupAuthorizer();
    assert.equal(authorizer.authorize(attributes).decision, 'noOpinion');
    const masters = { ...user, groups: ['devs', 'system:masters'] };
    assert.equal(authorizer.authorize({ ...attributes, user: masters }).decision, 'allow');
    const named = { ...user, name: 'system:masters' };
    assert.equal(authorizer.authorize({ ...attributes, user: named }).decision, 'noOpinion');
  });
});

describe('UnionRuleResolver', () => {
  it('combines the rules and the errors', async () => {
    const part = (name: string, incomplete: boolean) => ({
      rulesFor: () => ({
        resourceRules: [{ verbs: [name], apiGroups: [''], resources: ['pods'], resourceNames: [] }],
        nonResourceRules: [],
        incomplete,
        evaluationError: incomplete ? `${name} can't say` : '',
      }),
    });
    const rules = await new UnionRuleResolver([part('a', false), part('b', true)]).rulesFor(user, 'n');
    assert.deepEqual(
      rules.resourceRules.map(({ verbs }) => verbs),
      [['a'], ['b']],
    );
    assert.equal(rules.incomplete, true);
    assert.equal(rules.evaluationError, "b can't say");
    const both = await new UnionRuleResolver([part('a', true), part('b', true)]).rulesFor(user, 'n');
    assert.equal(both.evaluationError, "[a can't say, b can't say]");
  });
});
