import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestRequest } from '../../../../../test/support/admission-attributes.js';
import { admit } from '../../../../../test/support/admission-parts.js';
import { podPlugin } from '../../../../../test/support/pod-plugins.js';

describe('TaintNodesByCondition', () => {
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const taints = async (request: TestRequest) =>
    (await admit(podPlugin('TaintNodesByCondition'), { resource: 'nodes', ...request })).object.spec.taints;
  it('taints new nodes once', async () => {
    assert.deepEqual(await taints({ object: { spec: {} } }), [taint]);
    assert.deepEqual(await taints({ object: { spec: { taints: [taint] } } }), [taint]);
    const other = { ...taint, effect: 'NoExecute' };
    assert.deepEqual(await taints({ object: { spec: { taints: [other] } } }), [other, taint]);
    assert.equal(await taints({ object: { spec: {} }, oldObject: { spec: {} } }), undefined);
    assert.equal(await taints({ resource: 'pods', object: { spec: {} } }), undefined);
  });
});
