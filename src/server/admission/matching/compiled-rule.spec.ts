import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CompiledRule, type ResourceRule } from './compiled-rule.js';

const everything: ResourceRule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };

/** A request as `OPERATION group/version/resource/subresource namespace/name`. */
function matches(rule: ResourceRule, request: string): boolean {
  const [operation, path, object] = request.split(' ') as [string, string, string];
  const [group, version, resource, subresource] = path.split('/') as [string, string, string, string];
  const [namespace, name] = object.split('/') as [string, string];
  const attributes = { operation: operation as 'CREATE', subresource, namespace, name };
  return new CompiledRule({ ...everything, ...rule }).matches(attributes, { group, version, resource });
}

const pod = 'CREATE /v1/pods/ n/p';
const podLog = 'CREATE /v1/pods/log n/p';
const namespace = 'UPDATE /v1/namespaces/ n/n';
const newNamespace = 'CREATE /v1/namespaces/ /n';
const node = 'DELETE /v1/nodes/ /x';

describe('a rule of a webhook or a policy', () => {
  const cases: [ResourceRule, string, boolean][] = [
    [{}, pod, true],
    [{}, podLog, true],
    [{ operations: ['CREATE', 'UPDATE'] }, pod, true],
    [{ operations: ['UPDATE'] }, pod, false],
    [{ operations: [] }, pod, false],
    [{ apiGroups: [''] }, pod, true],
    [{ apiGroups: ['apps'] }, pod, false],
    [{ apiVersions: ['v1beta1', 'v1'] }, pod, true],
    [{ apiVersions: ['v1beta1'] }, pod, false],
    [{ resources: ['pods'] }, pod, true],
    [{ resources: ['pods'] }, podLog, false],
    [{ resources: ['pods/*'] }, pod, true],
    [{ resources: ['pods/*'] }, podLog, true],
    [{ resources: ['pods/log'] }, podLog, true],
    [{ resources: ['pods/log'] }, pod, false],
    [{ resources: ['*'] }, pod, true],
    [{ resources: ['*'] }, podLog, false],
    [{ resources: ['*/log'] }, podLog, true],
    [{ resources: ['*/log'] }, pod, false],
    [{ resources: ['services', 'pods'] }, pod, true],
    [{ scope: 'Namespaced' }, pod, true],
    [{ scope: 'Cluster' }, pod, false],
    [{ scope: '*' }, pod, true],
    [{ scope: 'Namespaced' }, node, false],
    [{ scope: 'Cluster' }, node, true],
    [{ scope: 'Namespaced' }, namespace, false],
    [{ scope: 'Cluster' }, namespace, true],
    [{ scope: 'Cluster' }, newNamespace, true],
    [{ resourceNames: [] }, pod, true],
    [{ resourceNames: ['q', 'p'] }, pod, true],
    [{ resourceNames: ['q'] }, pod, false],
    // A group named like a kind of namespace is not the core group.
    [{ scope: 'Namespaced' }, 'CREATE other/v1/namespaces/ n/p', true],
  ];
  for (const [rule, request, expected] of cases) {
    it(`${JSON.stringify(rule)} ${expected ? 'matches' : 'does not match'} ${request}`, () => {
      assert.equal(matches(rule, request), expected);
    });
  }
});
