import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admit } from '../../../../../test/support/admission-parts.js';
import { podOf, podPlugin } from '../../../../../test/support/pod-plugins.js';

const zone = 'topology.kubernetes.io/zone';
const region = 'topology.kubernetes.io/region';
const node = { metadata: { labels: { [zone]: 'z', [region]: 'r', 'topology.kubernetes.io/rack': 'k', other: 'o' } } };
const world = { known: { nodes: { n: node, bare: {} } }, stored: { nodes: { new: node } } };

async function labelsOf(request: object) {
  const { object, problem } = await admit(podPlugin('PodTopologyLabels', world), request);
  assert.equal(problem, undefined);
  return object.metadata.labels;
}

describe('PodTopologyLabels', () => {
  it('gives pods that are created on a node its zone and region', async () => {
    const placed = (nodeName: string, labels?: object) => ({
      object: { ...podOf({ nodeName }), metadata: { name: 'x', labels } },
    });
    const place = { [zone]: 'z', [region]: 'r' };
    assert.deepEqual(await labelsOf(placed('n')), place);
    assert.deepEqual(await labelsOf(placed('n', { [zone]: 'mine', app: 'a' })), { ...place, app: 'a' });
    assert.deepEqual(await labelsOf(placed('new')), place);
    for (const name of ['bare', 'missing', '']) assert.equal(await labelsOf(placed(name)), undefined);
    assert.equal(await labelsOf({ ...placed('n'), operation: 'UPDATE', oldObject: podOf() }), undefined);
  });

  it('labels bindings to nodes', async () => {
    const bound = (target: object) => ({ subresource: 'binding', object: { metadata: { name: 'x' }, target } });
    assert.deepEqual(await labelsOf(bound({ kind: 'Node', name: 'n' })), { [zone]: 'z', [region]: 'r' });
    assert.equal(await labelsOf(bound({ name: 'n' })), undefined);
    assert.equal(await labelsOf({ ...bound({ kind: 'Node', name: 'n' }), subresource: 'eviction' }), undefined);
  });
});
