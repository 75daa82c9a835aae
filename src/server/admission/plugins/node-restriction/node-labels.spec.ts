import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import { NodeLabels } from './node-labels.js';

describe('labels of nodes', () => {
  it('must not be set, changed or removed', () => {
    const labels = new NodeLabels(vendorNames('k8s.io'));
    const key = 'node-restriction.kubernetes.io/x';
    assert.deepEqual(labels.forbiddenChanges({ [key]: 'a' }, undefined), [key]);
    assert.deepEqual(labels.forbiddenChanges({ [key]: 'a' }, { [key]: 'b' }), [key]);
    assert.deepEqual(labels.forbiddenChanges(null, { [key]: 'b' }), [key]);
    assert.deepEqual(labels.forbiddenChanges({ [key]: 'b' }, { [key]: 'b' }), []);
    assert.deepEqual(labels.forbiddenChanges({ b: '', 'x.io/a': '' }, {}), []);
  });

  it('go by the names of the vendor', () => {
    const labels = new NodeLabels(vendorNames('example.dev'));
    const all = [
      'node-restriction.example.dev/x',
      'a.node-restriction.example.dev/x',
      'example.dev/x',
      'a.example.dev/x',
      'example.dev/hostname',
      'example.dev/arch',
      'topology.example.dev/region',
      'node.example.dev/instance-type',
      'nodeagent.example.dev/x',
      'a.node.example.dev/x',
      'notexample.dev/x',
      'kubernetes.io/x',
    ];
    const now = Object.fromEntries(all.map((key) => [key, 'x']));
    assert.deepEqual(labels.forbiddenChanges(now, {}), [
      'a.example.dev/x',
      'a.node-restriction.example.dev/x',
      'example.dev/x',
      'node-restriction.example.dev/x',
    ]);
  });
});
