import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { haveSameReferences } from './have-same-references.js';

const mirror = 'kubernetes.io/config.mirror';
const spec = { volumes: [{ name: 'v', secret: { secretName: 's' } }], nodeName: 'n1' };

function stored(parts: { metadata?: object; spec?: object; status?: object | null } = {}): string {
  const metadata = { name: 'p', namespace: 'ns', ...parts.metadata };
  const status = parts.status === null ? {} : { status: parts.status ?? {} };
  return JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata, spec: parts.spec ?? spec, ...status });
}

function same(before: string, after: string): boolean {
  const there = haveSameReferences(before, after, mirror);
  assert.equal(haveSameReferences(after, before, mirror), there);
  return there;
}

describe('the glance at the references of two states of a pod', () => {
  it('sees that only status or metadata changed', () => {
    assert.ok(same(stored(), stored({ status: { phase: 'Running', podIP: '10.0.0.1' } })));
    assert.ok(same(stored(), stored({ metadata: { labels: { spec: 'x', status: 'y' } } })));
    assert.ok(same(stored(), stored({ metadata: { annotations: { a: ',"spec":{"nodeName":"n2"},"status":{' } } })));
    const managedFields = [{ manager: 'm', fieldsV1: { 'f:metadata': {}, 'f:spec': { 'f:volumes': {} } } }];
    assert.ok(same(stored(), stored({ metadata: { managedFields } })));
  });

  it('takes no change of the spec for none', () => {
    const claim = { name: 'c', ephemeral: { volumeClaimTemplate: { metadata: {}, spec: { volumeName: 'x' } } } };
    const ephemeralContainers = [{ name: 'e', envFrom: [{ secretRef: { name: 'other' } }] }];
    for (const changed of [
      { ...spec, nodeName: 'n2' },
      { ...spec, ephemeralContainers },
      { ...spec, volumes: [...spec.volumes, claim] },
      { ephemeralContainers, ...spec },
    ]) {
      assert.ok(!same(stored(), stored({ spec: changed })), JSON.stringify(changed));
      assert.ok(same(stored({ spec: changed }), stored({ spec: changed, status: { phase: 'Failed' } })));
    }
    const texts = { ...spec, nodeSelector: { a: ',"status":{' } };
    assert.ok(!same(stored({ spec: texts }), stored({ spec: { ...texts, nodeName: 'n2' } })));
  });

  it('leaves claims of devices and mirror pods to a closer look', () => {
    const resourceClaimStatuses = [{ name: 'c', resourceClaimName: 'p-c' }];
    assert.ok(!same(stored(), stored({ status: { resourceClaimStatuses } })));
    const extendedResourceClaimStatus = { resourceClaimName: 'p-c' };
    assert.ok(!same(stored(), stored({ status: { extendedResourceClaimStatus } })));
    assert.ok(!same(stored(), stored({ metadata: { annotations: { [mirror]: 'x' } } })));
  });

  it('makes no claim about states without a status, or with a status before the spec', () => {
    assert.ok(!same(stored({ status: null }), stored({ status: null })));
    const turned = JSON.stringify({ metadata: { name: 'p' }, status: { phase: 'Running' }, spec });
    assert.ok(!same(turned, turned));
  });
});
