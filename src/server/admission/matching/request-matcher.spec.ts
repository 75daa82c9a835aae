import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { registeredGroups } from '../../../../test/support/registered-groups.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatApiVersion } from '../../../base/machinery/group-version.js';
import { serverContext } from '../../../base/machinery/internal-context.js';
import type { Labels } from '../../../base/machinery/label-selector.js';
import { decode } from '../../../base/machinery/schema/index.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import type { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import { type MatchAttributes, type MatchCriteria, RequestMatcher } from './request-matcher.js';
import { ResourceVersions } from './resource-versions.js';
import { VersionedObjects } from './versioned-objects.js';

const rule = (apiGroup: string, apiVersions: string[], resources: string[]) => ({
  operations: ['*'],
  apiGroups: [apiGroup],
  apiVersions,
  resources,
});
const podRule = rule('', ['v1'], ['pods']);
const labelled = (labels?: Labels) => ({ metadata: { name: 'x', ...(labels ? { labels } : {}) } }) as ApiObject;

const pod: MatchAttributes = {
  operation: 'CREATE',
  resource: { group: '', version: 'v1', resource: 'pods' },
  subresource: '',
  kind: { group: '', version: 'v1', kind: 'Pod' },
  namespace: 'n',
  name: 'x',
  object: labelled({ a: '1' }),
  oldObject: undefined,
};
const autoscaler: MatchAttributes = {
  ...pod,
  resource: { group: 'autoscaling', version: 'v1', resource: 'horizontalpodautoscalers' },
  kind: { group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler' },
};

const context = serverContext(0);

describe('the matcher of requests', () => {
  let registry: ResourceRegistry;
  let versions: ResourceVersions;
  const known = new Map<string, Labels>([['n', { team: 'red' }]]);
  let reads = 0;

  before(async () => {
    registry = (await registeredGroups()).registry;
    versions = new ResourceVersions(registry);
  });

  const namespaces = {
    get: (name: string) => {
      reads++;
      const labels = known.get(name);
      return labels === undefined ? Promise.resolve(undefined) : { labels };
    },
  };
  const match = (criteria: Partial<MatchCriteria>, attributes: MatchAttributes) =>
    new RequestMatcher({ rules: [podRule], ...criteria }, { namespaces, versions }).match(attributes);
  /** The matched version and kind as a string; empty for no match. */
  const matched = async (criteria: Partial<MatchCriteria>, attributes: MatchAttributes) => {
    const found = await match(criteria, attributes);
    return found === undefined
      ? ''
      : `${formatApiVersion(found.resource)} ${formatApiVersion(found.kind)} ${found.kind.kind}`;
  };

  it('answers at once, and asks for the namespace only if its labels decide', () => {
    reads = 0;
    assert.deepEqual(match({}, pod), { resource: pod.resource, kind: pod.kind });
    assert.equal(reads, 0);
    assert.equal(match({ rules: [] }, pod), undefined);
    assert.notEqual(match({ rules: [], matchesWithoutRules: true }, pod), undefined);
    assert.notEqual(match({ namespaceSelector: { matchLabels: { team: 'red' } } }, pod), undefined);
    assert.equal(match({ namespaceSelector: { matchLabels: { team: 'blue' } } }, pod), undefined);
    assert.equal(reads, 2);
  });

  it('refuses a namespace that does not exist', async () => {
    const criteria = { namespaceSelector: { matchLabels: { team: 'red' } } };
    await assert.rejects(Promise.resolve(match(criteria, { ...pod, namespace: 'gone' })), (error) => {
      assert.ok(error instanceof StatusError);
      assert.equal(error.message, 'namespaces "gone" not found');
      return true;
    });
    assert.equal(match({ ...criteria, rules: [] }, { ...pod, namespace: 'gone' }), undefined);
  });

  it('judges a namespace by the labels it is given, and a deleted one by those it has', async () => {
    const rules = [rule('', ['v1'], ['namespaces'])];
    const criteria = { rules, namespaceSelector: { matchLabels: { team: 'red' } } };
    const own = { resource: { group: '', version: 'v1', resource: 'namespaces' }, name: 'n' };
    const write = { ...pod, ...own, object: labelled({ team: 'red' }) };
    assert.ok(await matched(criteria, { ...write, namespace: '' }));
    assert.ok(await matched(criteria, { ...write, operation: 'UPDATE' }));
    assert.equal(await matched(criteria, { ...write, object: labelled() }), '');
    const removal = { ...write, operation: 'DELETE', object: undefined, oldObject: labelled() } as const;
    assert.ok(await matched(criteria, removal));
  });

  it('always matches objects outside of namespaces', async () => {
    const rules = [rule('', ['v1'], ['nodes'])];
    const node = { ...pod, namespace: '', resource: { group: '', version: 'v1', resource: 'nodes' } };
    assert.ok(await matched({ rules, namespaceSelector: { matchLabels: { team: 'blue' } } }, node));
  });

  it('matches the labels of the new or the old object', async () => {
    const criteria = { objectSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['1'] }] } };
    assert.ok(await matched(criteria, pod));
    assert.equal(await matched(criteria, { ...pod, object: labelled() }), '');
    assert.ok(await matched(criteria, { ...pod, object: labelled(), oldObject: labelled({ a: '1' }) }));
    assert.ok(await matched(criteria, { ...pod, object: undefined, oldObject: labelled({ a: '1' }) }));
    assert.equal(await matched(criteria, { ...pod, object: undefined }), '');
    const absent = { objectSelector: { matchExpressions: [{ key: 'b', operator: 'DoesNotExist' }] } };
    assert.equal(await matched(absent, { ...pod, object: undefined }), '');
    assert.ok(await matched(absent, { ...pod, object: labelled() }));
  });

  it('shows a request in the version that a rule names', async () => {
    const rules = [rule('autoscaling', ['v2'], ['horizontalpodautoscalers'])];
    const v2 = 'autoscaling/v2 autoscaling/v2 HorizontalPodAutoscaler';
    assert.equal(await matched({ rules, matchPolicy: 'Equivalent' }, autoscaler), v2);
    assert.equal(await matched({ rules }, autoscaler), v2);
    assert.equal(await matched({ rules, matchPolicy: 'Exact' }, autoscaler), '');
    const own = [...rules, rule('autoscaling', ['v1'], ['*'])];
    assert.equal(await matched({ rules: own }, autoscaler), 'autoscaling/v1 autoscaling/v1 HorizontalPodAutoscaler');
    const status = [rule('autoscaling', ['v2'], ['horizontalpodautoscalers/status'])];
    assert.equal(await matched({ rules: status }, { ...autoscaler, subresource: 'status' }), v2);
    assert.equal(await matched({ rules: status }, autoscaler), '');
  });

  it('knows the other group of the same objects', async () => {
    const resource = { group: '', version: 'v1', resource: 'events' };
    const event = { ...pod, resource, kind: { group: '', version: 'v1', kind: 'Event' } };
    const [other] = versions.equivalents(resource, '');
    assert.ok(other);
    assert.notEqual(other.resource.group, '');
    const rules = [rule(other.resource.group, ['v1'], ['events'])];
    const apiVersion = formatApiVersion(other.resource);
    assert.equal(await matched({ rules }, event), `${apiVersion} ${apiVersion} Event`);
  });

  it('lets an exclusion win', async () => {
    assert.equal(await matched({ excludeRules: [podRule] }, pod), '');
    const others = [{ ...podRule, resourceNames: ['y'] }];
    assert.ok(await matched({ excludeRules: others }, pod));
    const inV2 = [rule('autoscaling', ['v2'], ['*'])];
    assert.equal(await matched({ rules: [], matchesWithoutRules: true, excludeRules: inV2 }, autoscaler), '');
  });

  it('converts both objects, once for each version', () => {
    const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
    const [body] = versions.bodiesOf(autoscaler.resource, '');
    assert.ok(body);
    const object = decode(body.type, {
      kind: 'HorizontalPodAutoscaler',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'x', namespace: 'n' },
      spec: { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
    }).value as ApiObject;
    const before = JSON.stringify(object);
    const objects = new VersionedObjects({ ...autoscaler, object, oldObject: object, context }, versions);
    assert.equal(objects.prepare(autoscaler), undefined);
    assert.equal(objects.as(autoscaler).object, object);
    const v2 = { ...autoscaler, resource: { ...autoscaler.resource, version: 'v2' } };
    assert.equal(objects.prepare(v2), undefined);
    const shown = objects.as(v2);
    assert.equal(objects.as(v2), shown);
    assert.equal(shown.object?.apiVersion, 'autoscaling/v2');
    const metric = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } };
    const { metrics } = (shown.object as ApiObject).spec as { metrics: unknown };
    assert.deepEqual(metrics, [{ type: 'Resource', resource: metric }]);
    assert.deepEqual(shown.oldObject, shown.object);
    assert.equal(JSON.stringify(object), before);
    const { signal } = context;
    const back = versions.convert(shown.object as ApiObject, v2.resource, autoscaler.resource, '', signal) as ApiObject;
    assert.equal(back.apiVersion, 'autoscaling/v1');
    assert.deepEqual((back.spec as { targetCPUUtilizationPercentage: number }).targetCPUUtilizationPercentage, 50);
  });

  it('does not convert bodies with a kind of their own', () => {
    const resource = { group: 'apps', version: 'v1', resource: 'deployments' };
    assert.equal(versions.bodiesOf(resource, 'scale')[0]?.kind.kind, 'Scale');
    assert.equal(versions.bodiesOf(resource, 'status')[0]?.kind.kind, 'Deployment');
    assert.deepEqual(versions.bodiesOf(resource, 'nothing'), []);
    const evictions = versions.bodiesOf({ group: '', version: 'v1', resource: 'pods' }, 'eviction');
    assert.deepEqual(
      evictions.map(({ kind }) => kind.version),
      ['v1', 'v1beta1'],
    );
    assert.deepEqual(versions.equivalents(resource, 'scale'), []);
    const body = labelled();
    assert.equal(versions.convert(body, resource, { ...resource, version: 'v9' }, 'scale', context.signal), body);
  });
});
