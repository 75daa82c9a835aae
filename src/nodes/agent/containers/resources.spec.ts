import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from '../../../base/machinery/schema/index.js';
import { pod as podType } from '../../../objects/apis/core/v1/pod.types.js';
import { weightOf } from './cgroups.js';
import { cpuQuota, cpuShares, linuxResourcesOf, podAmounts } from './resources.js';

const uid = '0b0e1f9e-0000-4000-8000-000000000001';

function podOf(spec: object, metadata: object = {}) {
  const own = { name: 'web', namespace: 'default', uid, ...metadata };
  return decode(podType, { apiVersion: 'v1', kind: 'Pod', metadata: own, spec: { containers: [], ...spec } }).value;
}

const app = (resources: object = {}) => ({ name: 'app', image: 'a', resources });

describe('resources of containers', () => {
  it('become shares, quotas and scores of the kernel', () => {
    assert.deepEqual([cpuShares(0), cpuShares(100), cpuShares(1000)], [2, 102, 1024]);
    assert.deepEqual([cpuQuota(0, 100_000), cpuQuota(500, 100_000), cpuQuota(1, 100_000)], [0, 50_000, 1000]);
    assert.deepEqual([weightOf(2), weightOf(1024), weightOf(262_144)], [1, 39, 10_000]);
    const settings = { cfsQuota: true, cfsQuotaPeriodMs: 100, memoryCapacity: 1000 * 2 ** 20 };
    const of = (resources: object) => {
      const pod = podOf({ containers: [app(resources)] });
      return linuxResourcesOf(pod, (pod.spec.containers ?? [])[0] as never, settings).oomScoreAdj;
    };
    assert.equal(of({}), 1000);
    assert.equal(of({ requests: { memory: '100Mi' } }), 900);
    const amounts = { cpu: '1', memory: '100Mi' };
    assert.equal(of({ limits: amounts, requests: amounts }), -997);
    assert.equal(of({ requests: { memory: '1000Mi' } }), 3);
  });

  it('of a pod are limited only if all containers are', () => {
    const limited = { limits: { cpu: '1', memory: '1Mi' } };
    const both = podAmounts(podOf({ containers: [app(limited), { ...app(limited), name: 'b' }] }));
    assert.deepEqual(both, { cpuRequestMilli: 2000, cpuLimitMilli: 2000, memoryLimit: 2 * 2 ** 20 });
    assert.equal(podAmounts(podOf({ containers: [app(limited), { ...app(), name: 'b' }] })).memoryLimit, undefined);
  });
});
