import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { processorMs } from '../../../../test/support/processor-time.js';
import { DocumentError } from '../../../base/config/document-error.js';
import { readAuthenticationConfiguration } from './authentication-document.js';

const options = {
  suffix: 'k8s.io',
  serviceAccountIssuers: ['https://accounts.example'],
  reservedDomains: ['k8s.io', 'kubernetes.io'],
};

const issuer = { url: 'https://issuer.example', audiences: ['a'] };
const claimMappings = { username: { claim: 'sub', prefix: '' } };
const root = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration' };

function problemsOf(document: unknown): readonly string[] {
  try {
    readAuthenticationConfiguration(document, options);
    return [];
  } catch (error) {
    if (error instanceof DocumentError) return error.problems;
    throw error;
  }
}

const one = (change: object) => problemsOf({ ...root, jwt: [{ issuer, claimMappings, ...change }] });
const about = (change: object) => one({ issuer: { ...issuer, ...change } });
const mapped = (change: object) => one({ claimMappings: { ...claimMappings, ...change } });

describe('an authentication configuration', () => {
  it('is accepted in each of its versions', () => {
    for (const version of ['v1', 'v1beta1', 'v1alpha1']) {
      assert.deepEqual(problemsOf({ ...root, apiVersion: `apiserver.config.k8s.io/${version}`, jwt: [] }), []);
    }
    assert.deepEqual(problemsOf({ kind: 'Other', apiVersion: 'v1' }).length, 2);
    assert.deepEqual(problemsOf([]), ['must be an object']);
  });

  it('may use every field', () => {
    assert.deepEqual(
      problemsOf({
        ...root,
        jwt: [
          {
            issuer: {
              ...issuer,
              discoveryURL: 'https://other.example/.well-known/openid-configuration',
              audiences: ['a', 'b'],
              audienceMatchPolicy: 'MatchAny',
            },
            claimValidationRules: [
              { claim: 'tenant', requiredValue: 'one' },
              { expression: 'claims.exp - claims.nbf <= 86400', message: 'lives too long' },
            ],
            claimMappings: {
              username: { expression: 'claims.email_verified ? claims.email : ""' },
              groups: { expression: '"roles" in claims ? claims.roles.split(",") : []' },
              uid: { claim: 'sub' },
              extra: [{ key: 'example.com/tenant', valueExpression: 'claims.tenant' }],
            },
            userValidationRules: [{ expression: '!user.username.startsWith("system:")', message: 'reserved' }],
          },
        ],
        anonymous: { enabled: true, conditions: [{ path: '/livez' }] },
      }),
      [],
    );
  });

  it('is refused with all problems at once, each with its path', () => {
    assert.deepEqual(
      problemsOf({
        ...root,
        extra: 1,
        jwt: [
          { issuer: { url: 'http://a', audiences: [] }, claimMappings: {}, typo: 1 },
          { issuer: { ...issuer, audiences: 'a' }, claimMappings: { username: { claim: 'sub' } } },
        ],
        anonymous: { enabled: false, conditions: [{ path: 'livez' }] },
      }),
      [
        'jwt[0].issuer.url: Invalid value: "http://a": URL scheme must be https',
        'jwt[0].issuer.audiences: Required value: at least one jwt[].issuer.audiences is required',
        'jwt[0].claimMappings.username: Required value: claim or expression is required',
        'jwt[0].typo: Forbidden: there is no such field',
        'jwt[1].issuer.audiences: Invalid value: "a": must be a list of strings',
        'jwt[1].issuer.audiences: Required value: at least one jwt[].issuer.audiences is required',
        'jwt[1].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing',
        'anonymous.conditions[0].path: Invalid value: "livez": must begin with /',
        'anonymous.conditions: Invalid value: ["livez"]: enabled should be set to true when conditions are defined',
        'extra: Forbidden: there is no such field',
      ],
    );
  });

  const refused: readonly [string, readonly string[], RegExp][] = [
    [
      'an address with a password',
      about({ url: 'https://u:p@a' }),
      /^jwt\[0\].issuer.url: .*"https:\/\/a": URL must not contain/,
    ],
    ['an address with a query', about({ url: 'https://a?b' }), /must not contain a query/],
    ['an address with a fragment', about({ url: 'https://a#b' }), /must not contain a fragment/],
    ['no address', about({ url: '' }), /issuer.url: Required value/],
    [
      'an issuer of service account tokens',
      about({ url: 'https://accounts.example' }),
      /must not be an issuer of service/,
    ],
    [
      'a discovery address equal to the issuer',
      about({ discoveryURL: 'https://issuer.example/' }),
      /must be different/,
    ],
    ['other authorities', about({ certificateAuthority: 'x' }), /certificateAuthority: .*no certificate in PEM/],
    ['an empty audience', about({ audiences: [''] }), /audiences\[0\]: Required value/],
    ['two audiences without a policy', about({ audiences: ['a', 'b'] }), /must be MatchAny for more/],
    [
      'an audience twice',
      about({ audiences: ['a', 'a'], audienceMatchPolicy: 'MatchAny' }),
      /audiences\[1\]: Duplicate/,
    ],
    ['another policy', about({ audienceMatchPolicy: 'MatchAll' }), /must be MatchAny or empty/],
    ['claim and expression', mapped({ uid: { claim: 'a', expression: 'claims.a' } }), /uid: .*can't both be set/],
    [
      'a prefix of an expression',
      mapped({ username: { expression: 'claims.sub', prefix: '' } }),
      /prefix can't be set/,
    ],
    ['a wrong result', mapped({ username: { expression: '1' } }), /username.expression: .*must evaluate to string/],
    ['another variable', mapped({ uid: { expression: 'user.uid' } }), /undeclared reference/],
    ['a syntax error', mapped({ groups: { expression: 'claims.' } }), /groups.expression: .*compilation failed/],
    [
      'an address that nobody looked at',
      mapped({ username: { expression: 'claims.email' } }),
      /claims.email_verified must be used/,
    ],
    ['a key in capitals', mapped({ extra: [{ key: 'a.b/C', valueExpression: 'claims.a' }] }), /must be lowercase/],
    ['a key without domain', mapped({ extra: [{ key: 'abc', valueExpression: 'claims.a' }] }), /domain-prefixed path/],
    ['a reserved key', mapped({ extra: [{ key: 'a.k8s.io/b', valueExpression: 'claims.a' }] }), /k8s.io is reserved/],
    [
      'a key twice',
      mapped({ extra: Array(2).fill({ key: 'a.b/c', valueExpression: 'claims.a' }) }),
      /extra\[1\].key: Duplicate value/,
    ],
    ['a rule about nothing', one({ claimValidationRules: [{}] }), /claim or expression is required/],
    ['a rule twice', one({ claimValidationRules: Array(2).fill({ claim: 'a' }) }), /\[1\].claim: Duplicate value/],
    [
      'a rule with a message for a claim',
      one({ claimValidationRules: [{ claim: 'a', message: 'm' }] }),
      /message can't be set/,
    ],
    [
      'a rule about users without expression',
      one({ userValidationRules: [{ message: 'm' }] }),
      /expression is required/,
    ],
    ['a user rule about claims', one({ userValidationRules: [{ expression: 'claims.a' }] }), /undeclared reference/],
    [
      'an issuer twice',
      problemsOf({ ...root, jwt: Array(2).fill({ issuer, claimMappings }) }),
      /jwt\[1\].issuer.url: Duplicate value/,
    ],
    [
      'too many issuers',
      problemsOf({
        ...root,
        jwt: Array.from({ length: 65 }, (_, i) => ({ issuer: { ...issuer, url: `https://i${i}` }, claimMappings })),
      }),
      /^jwt: Too many: 65: must have at most 64 items/,
    ],
  ];
  for (const [name, problems, expected] of refused) {
    it(`is refused for ${name}`, () => {
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.match(problems[0] ?? '', expected);
    });
  }

  it('is refused when its expressions take too long to compile', () => {
    const expression = `[${Array(2000).fill('1').join(',')}].size() > 0`;
    const began = processorMs();
    const problems = one({
      claimValidationRules: Array.from({ length: 40 }, (_, i) => ({ expression: `${expression} && ${i} > 0` })),
    });
    assert.ok(problems.some((problem) => /too much work to compile/.test(problem)));
    assert.ok(processorMs() - began < 2_000);
  });

  it('takes an address as looked at wherever the look is', () => {
    const username = { expression: 'claims.email' };
    assert.deepEqual(
      one({
        claimMappings: { username },
        claimValidationRules: [{ expression: 'claims.?email_verified.orValue(true) == true' }],
      }),
      [],
    );
    const extra = [{ key: 'a.b/c', valueExpression: 'string(claims["email_verified"])' }];
    assert.deepEqual(one({ claimMappings: { username, extra } }), []);
  });
});
