import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { processorMs } from '../../../../test/support/processor-time.js';
import { attributesOfRequest } from '../../../../test/support/request-attributes.js';
import { DocumentError } from '../../../base/config/document-error.js';
import { FieldPath } from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../../base/machinery/names.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { readAuthorizationConfiguration } from './authorization-document.js';
import { compileCondition, conditionWork, matchConditions } from './request-conditions.js';

const root = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration' };
let directory: string;
let kubeConfigFile: string;

before(() => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-authz-'));
  kubeConfigFile = join(directory, 'webhook.yaml');
  writeFileSync(
    kubeConfigFile,
    JSON.stringify({
      kind: 'Config',
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c' } }],
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    }),
  );
});
after(() => rmSync(directory, { recursive: true, force: true }));

const webhook = (change: object = {}) => ({
  type: 'Webhook',
  name: 'w',
  webhook: {
    timeout: '3s',
    subjectAccessReviewVersion: 'v1',
    failurePolicy: 'Deny',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile },
    ...change,
  },
});

function problemsOf(document: unknown): readonly string[] {
  try {
    readAuthorizationConfiguration(document, 'k8s.io');
    return [];
  } catch (error) {
    if (error instanceof DocumentError) return error.problems;
    throw error;
  }
}

const among = (...authorizers: object[]) => problemsOf({ ...root, authorizers });

describe('an authorization configuration', () => {
  it('has its times and limits, by default those of the flags', () => {
    const conditions = {
      matchConditionSubjectAccessReviewVersion: 'v1',
      matchConditions: [{ expression: 'has(request.resourceAttributes)' }],
    };
    const [first, second, node] = readAuthorizationConfiguration(
      {
        ...root,
        apiVersion: 'apiserver.config.k8s.io/v1beta1',
        authorizers: [
          webhook(),
          { ...webhook({ authorizedTTL: '1m', cacheUnauthorizedRequests: false, ...conditions }), name: 'x' },
          { type: 'Node', name: 'node' },
        ],
      },
      'k8s.io',
    );
    assert.ok(first?.type === 'Webhook' && second?.type === 'Webhook');
    const { authorizedTtlMs, unauthorizedTtlMs, timeoutMs } = first.webhook;
    assert.deepEqual(
      { authorizedTtlMs, unauthorizedTtlMs, timeoutMs },
      { authorizedTtlMs: 300_000, unauthorizedTtlMs: 30_000, timeoutMs: 3000 },
    );
    const noTime = { authorizedTTL: '0s', unauthorizedTTL: '-90s', timeout: '0s' };
    assert.deepEqual(among(webhook(noTime)), [
      'authorizers[0].webhook.unauthorizedTTL: Invalid value: "-1m30s": must be > 0s',
      'authorizers[0].webhook.timeout: Required value',
    ]);
    assert.deepEqual([second.webhook.authorizedTtlMs, second.webhook.unauthorizedTtlMs], [60_000, 0]);
    assert.equal(second.webhook.conditions.length, 1);
    assert.deepEqual(node, { type: 'Node', name: 'node' });
  });

  it('is refused with all problems at once, each with its path', () => {
    assert.deepEqual(
      among(
        { type: 'RBAC', name: 'a', webhook: {} },
        { type: 'RBAC', name: 'a' },
        { type: 'Webhooks', name: 'B_' },
        { type: 'Webhook', name: 'c' },
        webhook({
          timeout: '31s',
          authorizedTTL: 'soon',
          failurePolicy: 'Allow',
          connectionInfo: { type: 'InClusterConfig' },
          matchConditions: [{ expression: 'request.user' }, { expression: 'object.x' }],
          typo: 1,
        }),
        {},
      ).filter((line) => !/^authorizers\[0\]\.webhook\.\w/.test(line)),
      [
        'authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook',
        'authorizers[1].type: Duplicate value: "RBAC"',
        'authorizers[1].name: Duplicate value: "a"',
        'authorizers[2].type: Unsupported value: "Webhooks": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"',
        `authorizers[2].name: Invalid value: "B_": authorizer name is invalid: ${isDns1123Subdomain('B_').join(', ')}`,
        'authorizers[3].webhook: Required value: required when type=Webhook',
        'authorizers[4].webhook.authorizedTTL: Invalid value: "soon": must be a duration such as 30s or 5m',
        'authorizers[4].webhook.timeout: Invalid value: "31s": must be > 0s and <= 30s',
        'authorizers[4].webhook.failurePolicy: Unsupported value: "Allow": supported values: "NoOpinion", "Deny"',
        'authorizers[4].webhook.matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified',
        'authorizers[4].webhook.matchConditions[0].expression: Invalid value: "request.user": compilation failed: must evaluate to bool but got string',
        "authorizers[4].webhook.matchConditions[1].expression: Invalid value: \"object.x\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'object' (in container '')\n | object.x\n | ^",
        'authorizers[4].webhook.connectionInfo.type: Invalid value: "InClusterConfig": is not for this server, which would ask itself',
        'authorizers[4].webhook.typo: Forbidden: there is no such field',
        'authorizers[5].type: Required value',
        'authorizers[5].name: Required value',
      ],
    );
  });

  it('needs an authorizer, and client configurations that can be used', () => {
    assert.match(among()[0] ?? '', /^authorizers: Required value: at least one/);
    const connected = (file: string) =>
      among(webhook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: file } }));
    assert.match(connected('relative')[0] ?? '', /must be an absolute path/);
    assert.match(connected('/nowhere/x')[0] ?? '', /kubeConfigFile: .*: error loading file: .*there is no such file/);
    assert.match(connected('')[0] ?? '', /kubeConfigFile: Required value/);
    assert.deepEqual(problemsOf({ ...root, kind: 'X', authorizers: [{ type: 'RBAC', name: 'r' }] }), [
      'kind: must be AuthorizationConfiguration',
    ]);
  });
});

describe('match conditions of webhooks', () => {
  const jane: UserInfo = { name: 'jane', uid: 'u', groups: ['devs'], extra: { scope: ['a'] } };
  const programs = (...texts: string[]) =>
    texts.map((text) => {
      const compiled = compileCondition(text, FieldPath.of('x'), conditionWork());
      assert.ok('evaluate' in compiled, JSON.stringify(compiled));
      return compiled;
    });
  const result = (request: string, ...texts: string[]) =>
    matchConditions(programs(...texts), attributesOfRequest(jane, request));

  it('see the whole question', () => {
    const pods = 'GET /api/v1/namespaces/a/pods/b/log';
    for (const [request, text, matches] of [
      [pods, 'has(request.resourceAttributes) && !has(request.nonResourceAttributes)', true],
      [pods, 'request.resourceAttributes.namespace == "a" && request.resourceAttributes.name == "b"', true],
      [pods, 'request.resourceAttributes.subresource == "log" && request.resourceAttributes.verb == "get"', true],
      ['GET /api/v1/nodes', 'request.resourceAttributes.namespace == ""', true],
      ['GET /version', 'has(request.resourceAttributes)', false],
      ['GET /version', 'request.nonResourceAttributes.path == "/version"', true],
      [pods, '"devs" in request.groups && request.user == "jane" && request.uid == "u"', true],
      [pods, 'request.extra.scope[0] == "a"', true],
    ] as const) {
      assert.deepEqual(result(request, text), { matches }, text);
    }
  });

  it('do not match when one is false, even if another fails; otherwise a failure counts', () => {
    const fails = 'request.extra.nothing[0] == ""';
    assert.deepEqual(result('GET /x', fails, 'false'), { matches: false });
    assert.deepEqual(result('GET /x', 'false', fails), { matches: false });
    assert.ok('error' in result('GET /x', fails, 'true'));
    assert.deepEqual(result('GET /x'), { matches: true });
  });

  it('fail when they take too long', () => {
    const many = '[1,2,3,4,5,6,7,8,9,10]';
    const slow = `${many}.all(a, ${many}.all(b, ${many}.all(c, ${many}.all(d, ${many}.all(e, ${many}.all(f, request.user != ""))))))`;
    const began = processorMs();
    assert.ok('error' in result('GET /x', slow));
    assert.ok(processorMs() - began < 2000);
  });
});
