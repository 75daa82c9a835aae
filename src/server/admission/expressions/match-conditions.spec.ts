import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { AuthorizationDecision, Authorizer } from '../../../base/machinery/authorizer.js';
import { compileMatchConditions } from './match-conditions.js';
import type { ExpressionInput } from './request-variables.js';

const input = {
  attributes: {
    operation: 'CREATE',
    resource: { group: '', version: 'v1', resource: 'pods' },
    kind: { group: '', version: 'v1', kind: 'Pod' },
    subresource: '',
    namespace: 'n',
    name: 'p',
    dryRun: true,
    options: {},
    userInfo: { name: 'alice', uid: '', groups: ['dev'], extra: {} },
  },
  resource: { group: '', version: 'v1', resource: 'pods' },
  kind: { group: '', version: 'v1', kind: 'Pod' },
  object: { metadata: { name: 'p' } } as ApiObject,
  oldObject: undefined,
} as unknown as ExpressionInput;

const mute: Authorizer = { authorize: () => ({ decision: 'noOpinion', reason: '' }) };

async function result(expressions: readonly string[], authorizer = mute): Promise<string> {
  const conditions = expressions.map((expression, i) => ({ name: `c${i}`, expression }));
  const found = await compileMatchConditions(conditions, authorizer).matches(input);
  return typeof found === 'string' ? found : found.error;
}

describe('match conditions', () => {
  const cases: readonly (readonly [readonly string[], string])[] = [
    [[], 'match'],
    [['true', 'object.metadata.name == "p"'], 'match'],
    [['true', 'false'], 'no match'],
    [['namespaceObject == null || has(namespaceObject.metadata)'], 'match'],
    [
      ['namespaceObject.metadata.name == "n"'],
      'expression \'namespaceObject.metadata.name == "n"\' resulted in error: no such key: metadata',
    ],
    [['object.x == 1', 'false'], 'no match'],
    [['object.x == 1', 'true'], "expression 'object.x == 1' resulted in error: no such key: x"],
    [['request.operation == "CREATE" && request.userInfo.username == "alice" && request.dryRun'], 'match'],
    [['request.resource.resource == "pods" && request.namespace == "n" && oldObject == null'], 'match'],
    [['"dev" in request.userInfo.groups'], 'match'],
    [
      ['object.metadata.name'],
      "expression 'object.metadata.name' resulted in error: cel expression evaluated to non-bool",
    ],
  ];
  for (const [expressions, expected] of cases) {
    it(`${JSON.stringify(expressions)}: ${expected}`, async () => assert.equal(await result(expressions), expected));
  }

  it('takes stored conditions that cannot be compiled for errors', async () => {
    assert.match(await result(['1 +']), /^expression '1 \+' resulted in error: compilation failed: ERROR: <input>:1:4/);
    assert.equal(await result(['1 +', 'false']), 'no match');
  });

  for (const isAsync of [false, true]) {
    it(`asks the authorizer ${isAsync ? 'and waits' : 'at once'}, each question once`, async () => {
      let asked = 0;
      const authorizer: Authorizer = {
        authorize: ({ verb, namespace, user }) => {
          asked++;
          const allows = verb === 'use' && namespace === 'n' && user.name === 'alice';
          const decision: AuthorizationDecision = { decision: allows ? 'allow' : 'deny', reason: 'r' };
          return isAsync ? Promise.resolve(decision) : decision;
        },
      };
      const use = "authorizer.requestResource.check('use')";
      assert.equal(await result([`${use}.allowed() && ${use}.reason() == 'r'`], authorizer), 'match');
      assert.equal(asked, 1);
      assert.equal(await result(["!authorizer.path('/x').check('get').allowed()"], authorizer), 'match');
    });
  }

  it('hears of an authorizer that fails', async () => {
    const broken: Authorizer = { authorize: () => Promise.reject(new Error('down')) };
    const check = "authorizer.requestResource.check('use')";
    assert.equal(
      await result([`[${check}].all(c, c.errored() && c.error() == 'down' && !c.allowed())`], broken),
      'match',
    );
  });

  it('ends with the budget of all conditions', async () => {
    const expensive = `[${'1,'.repeat(99)}1].all(a, [${'1,'.repeat(99)}1].all(b, "${'x'.repeat(500)}" == "${'x'.repeat(500)}"))`;
    const found = await result(Array.from({ length: 6 }, (_, i) => `${expensive} || ${i} == 9`));
    assert.match(
      found,
      /validation failed due to running out of cost budget, no further validation rules will be run$/,
    );
  });
});
