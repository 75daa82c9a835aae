import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testNames } from '../../../test/support/definition-tester.js';
import type { ApiObject } from '../../base/machinery/api-object.js';
import { wholeQuantity } from '../../base/machinery/values/quantity.js';
import type { ResourceQuota, ResourceQuotaSpec } from '../apis/core/v1/resource-quota.types.js';
import { charged, draftOf, judge, type QuotaDraft, take } from './charge.js';
import { type LimitedResource, uncoveredReason } from './limited-resources.js';
import { podUsage } from './pod-usage.js';
import { correctedStatus, isOnlyCharged } from './recount.js';
import type { UsageEvaluator } from './usage-evaluator.js';

type Quota = ResourceQuota & ApiObject;
const evaluator = podUsage(testNames);
const now = Date.UTC(2030, 0, 1);

function quota(
  hard: Record<string, string>,
  used?: Record<string, string>,
  spec: Partial<ResourceQuotaSpec> = {},
): Quota {
  const status = used === undefined ? {} : { hard, used };
  return { metadata: { name: 'q', uid: 'u' }, spec: { hard, ...spec }, status } as Quota;
}

function pod(cpu: string, spec: object = {}): ApiObject {
  const containers = [{ resources: { requests: { cpu } } }];
  return { metadata: {}, spec: { containers, ...spec }, status: {} };
}

const change = (object: ApiObject, old?: ApiObject) => ({ evaluator, object, old, now });

/** Checks one change after the other, and returns the refusal reasons and the usage at the end. */
function run(draft: QuotaDraft, ...changes: ReturnType<typeof change>[]) {
  const reasons = changes.map((one) => {
    const judged = judge(one, [draft]);
    if (judged.kind === 'refused') return judged.reason;
    take(judged.charges);
    return undefined;
  });
  return { reasons, used: charged(draft)?.status.used };
}

describe('charges of quotas', () => {
  it('go up to the limit, each with what the ones before it took', () => {
    const draft = draftOf(quota({ pods: '2', cpu: '1' }, { pods: '0', cpu: '200m' }));
    const { reasons, used } = run(
      draft,
      change(pod('300m')),
      change(pod('600m')),
      change(pod('500m')),
      change(pod('1m')),
    );
    assert.deepEqual(reasons, [
      undefined,
      'exceeded quota: q, requested: cpu=600m, used: cpu=500m, limited: cpu=1',
      undefined,
      'exceeded quota: q, requested: cpu=1m,pods=1, used: cpu=1,pods=2, limited: cpu=1,pods=2',
    ]);
    assert.deepEqual(used, { cpu: '1', pods: '2' });
  });

  it('are only made for what rises', () => {
    const draft = draftOf(quota({ pods: '1', cpu: '1' }, { pods: '5', cpu: '900m' }));
    const { reasons, used } = run(
      draft,
      change(pod('300m'), pod('300m')),
      change(pod('100m'), pod('300m')),
      change(pod('400m'), pod('300m')),
      change(pod('301m'), pod('300m')),
    );
    assert.deepEqual(reasons, [
      undefined,
      undefined,
      undefined,
      'exceeded quota: q, requested: cpu=1m, used: cpu=1, limited: cpu=1',
    ]);
    assert.deepEqual(used, { pods: '5', cpu: '1' });
  });

  it('follow an object into a scope', () => {
    const draft = draftOf(quota({ pods: '1' }, { pods: '0' }, { scopes: ['Terminating'] }));
    const moved = change(pod('1', { activeDeadlineSeconds: 5 }), pod('1'));
    const { reasons } = run(draft, change(pod('1')), moved, moved);
    assert.deepEqual(reasons, [
      undefined,
      undefined,
      'exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
    ]);
  });

  it('need the amounts of an object that comes into a scope, not of one that was there before', () => {
    const bare = (spec: object) =>
      ({ metadata: {}, spec: { containers: [{ name: 'c', resources: {} }], ...spec }, status: {} }) as ApiObject;
    const scoped = quota({ 'requests.cpu': '1' }, { 'requests.cpu': '0' }, { scopes: ['Terminating'] });
    const moved = change(bare({ activeDeadlineSeconds: 5 }), bare({}));
    const kept = change(bare({ activeDeadlineSeconds: 4 }), bare({ activeDeadlineSeconds: 5 }));
    assert.deepEqual(run(draftOf(scoped), moved, kept).reasons, [
      'failed quota: q: must specify requests.cpu for: c',
      undefined,
    ]);
  });

  it('have no limit while nothing was counted, and are kept all the same', () => {
    const { reasons, used } = run(draftOf(quota({ pods: '1' })), change(pod('1')), change(pod('1')));
    assert.deepEqual([reasons, used], [[undefined, undefined], { pods: '2' }]);
  });

  it('obey a changed limit at once', () => {
    const changed = quota({ pods: '3' }, { pods: '1' });
    changed.spec = { hard: { pods: '1' } };
    assert.match(run(draftOf(changed), change(pod('1'))).reasons[0] ?? '', /limited: pods=1$/);
    changed.spec = { hard: {} };
    assert.deepEqual(run(draftOf(changed), change(pod('1'))).reasons, [undefined]);
  });

  it('need amounts, and usage that is known', () => {
    const bare = { metadata: {}, spec: { containers: [{ name: 'c', resources: {} }] }, status: {} } as ApiObject;
    const limited = quota({ 'requests.cpu': '1', memory: '1' }, { 'requests.cpu': '0', memory: '0' });
    assert.deepEqual(run(draftOf(limited), change(bare)).reasons, [
      'failed quota: q: must specify memory for: c; requests.cpu for: c',
    ]);
    const unknown = quota({ pods: '1' }, {});
    assert.deepEqual(run(draftOf(unknown), change(bare)).reasons, ['status unknown for quota: q, resources: pods']);
  });

  it('measure an object once, and the names of a quota once, however many quotas count it', () => {
    const calls = { usage: 0, measures: 0 };
    const counting: UsageEvaluator = {
      ...evaluator,
      usage: (...args) => {
        calls.usage++;
        return evaluator.usage(...args);
      },
      measures: (name) => {
        calls.measures++;
        return evaluator.measures(name);
      },
    };
    const drafts = Array.from({ length: 50 }, () => draftOf(quota({ pods: '9', cpu: '9' }, { pods: '0', cpu: '0' })));
    for (let i = 0; i < 3; i++) {
      const judged = judge({ ...change(pod('1')), evaluator: counting }, drafts);
      assert.equal(judged.kind === 'fits' && judged.charges.length, 50);
    }
    assert.deepEqual(calls, { usage: 3, measures: 100 });
  });

  it('treat names of the language as names', () => {
    const odd = quota({ 'requests.example.com/constructor': '1' }, { 'requests.example.com/constructor': '0' });
    assert.deepEqual(run(draftOf(odd), change(pod('1'))).reasons, [undefined]);
  });
});

describe('a recount', () => {
  const count = (pods: number) => new Map([['pods', wholeQuantity(pods)]]);

  it('keeps what was charged since the count', () => {
    const counted = quota({ pods: '9' }, { pods: '7' });
    assert.deepEqual(correctedStatus(counted, counted, count(4))?.used, { pods: '4' });
    const live = quota({ pods: '9' }, { pods: '8' });
    assert.deepEqual(correctedStatus(live, counted, count(4))?.used, { pods: '5' });
    assert.equal(correctedStatus(counted, counted, count(7)), undefined);
  });

  it('begins a status, and leaves out what is no longer limited', () => {
    const fresh = quota({ pods: '9', cpu: '1' });
    assert.deepEqual(correctedStatus(fresh, fresh, count(2)), {
      hard: { pods: '9', cpu: '1' },
      used: { cpu: '0', pods: '2' },
    });
    // Two pods were written, and charged, after the count.
    const since = { ...fresh, status: { used: { pods: '2' } } } as Quota;
    assert.deepEqual(correctedStatus(since, fresh, count(2))?.used, { cpu: '0', pods: '4' });
    const less = {
      ...fresh,
      spec: { hard: { pods: '9' } },
      status: { hard: { pods: '9', cpu: '1' }, used: { pods: '2' } },
    };
    assert.deepEqual(correctedStatus(less as Quota, less as Quota, count(2)), {
      hard: { pods: '9' },
      used: { pods: '2' },
    });
  });

  it('knows charges from other changes', () => {
    const before = quota({ pods: '9' }, { pods: '7' });
    assert.ok(isOnlyCharged(before, quota({ pods: '9' }, { pods: '8' })));
    assert.ok(!isOnlyCharged(before, quota({ pods: '9' }, { pods: '6' })));
    assert.ok(!isOnlyCharged(before, quota({ pods: '8' }, { pods: '7' })));
    assert.ok(!isOnlyCharged(before, { ...before, metadata: { name: 'q', uid: 'other' } }));
    assert.ok(!isOnlyCharged(before, { ...before, spec: { hard: { pods: '10' } } }));
  });
});

describe('resources that need a quota', () => {
  const limited: LimitedResource = {
    group: '',
    resource: 'pods',
    contains: ['requests.cpu'],
    scopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }],
  };
  const reason = (object: ApiObject, ...quotas: Quota[]) => uncoveredReason(change(object), [limited], quotas);
  const highOnly: Partial<ResourceQuotaSpec> = {
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] },
  };

  it('are refused without one', () => {
    assert.equal(reason(pod('1')), 'insufficient quota to consume: requests.cpu');
    assert.equal(reason(pod('1'), quota({ pods: '1' }, { pods: '0' })), 'insufficient quota to consume: requests.cpu');
    assert.equal(reason(pod('1'), quota({ 'requests.cpu': '1' }, { 'requests.cpu': '0' })), undefined);
    assert.equal(
      reason(pod('1', { priorityClassName: 'high' }), quota({ 'requests.cpu': '1' }, { 'requests.cpu': '0' })),
      'insufficient quota to match these scopes: [{PriorityClass In [high]}]',
    );
    const covering = quota({ 'requests.cpu': '1' }, { 'requests.cpu': '0' }, highOnly);
    assert.equal(reason(pod('1', { priorityClassName: 'high' }), covering), undefined);
    assert.equal(reason(pod('1'), covering), 'insufficient quota to consume: requests.cpu');
  });
});
