import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../objects/apis/core/v1/node.types.js';
import { extendedResources } from './node-object.js';

describe('extendedResources', () => {
  const profile = { capacity: { cpu: '8', pods: '110' } };
  const changes = (capacity: object, allocatable: object) =>
    extendedResources({ status: { capacity, allocatable } } as unknown as Node, profile);
  const own = { cpu: '8', pods: '110' };

  it('lets pods have what others wrote into the capacity, and takes back what they took out', () => {
    assert.deepEqual(changes({ ...own, 'example.com/gpu': '4' }, own), { 'example.com/gpu': '4' });
    assert.deepEqual(changes({ ...own, 'example.com/gpu': '2' }, { ...own, 'example.com/gpu': '4' }), {
      'example.com/gpu': '2',
    });
    assert.deepEqual(changes(own, { ...own, 'example.com/gpu': '4' }), { 'example.com/gpu': null });
  });

  it('has nothing to change when both agree, whatever the node says of its own resources', () => {
    assert.equal(changes({ ...own, 'example.com/gpu': '4' }, { ...own, 'example.com/gpu': '4' }), undefined);
    assert.equal(changes(own, { cpu: '1' }), undefined);
  });
});
