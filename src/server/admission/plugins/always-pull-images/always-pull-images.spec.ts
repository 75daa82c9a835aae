import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podOf, podPlugin, specAfter } from '../../../../../test/support/pod-plugins.js';

describe('AlwaysPullImages', () => {
  it('sets the policy of everything with an image', async () => {
    const container = { name: 'a', image: 'i', imagePullPolicy: 'IfNotPresent' };
    const spec = await specAfter('AlwaysPullImages', {
      containers: [container],
      initContainers: [{ ...container, name: 'b' }],
      volumes: [
        { name: 'v', image: { reference: 'r', pullPolicy: 'Never' } },
        { name: 'w', emptyDir: {} },
      ],
    });
    assert.equal(spec.containers[0].imagePullPolicy, 'Always');
    assert.equal(spec.initContainers[0].imagePullPolicy, 'Always');
    assert.equal(spec.volumes[0].image.pullPolicy, 'Always');
  });
  it('concerns only new images of updates', async () => {
    const old = podOf({ ephemeralContainers: [{ name: 'e', image: 'i', imagePullPolicy: 'Never' }] });
    const added = {
      ephemeralContainers: [
        ...(old.spec as never as { ephemeralContainers: object[] }).ephemeralContainers,
        { name: 'f', image: 'i' },
      ],
    };
    const spec = await specAfter('AlwaysPullImages', added, {}, { subresource: 'ephemeralcontainers', oldObject: old });
    const policies = [...spec.containers, ...spec.ephemeralContainers].map(
      (each: { imagePullPolicy?: string }) => each.imagePullPolicy,
    );
    assert.deepEqual(policies, [undefined, 'Never', 'Always']);
  });
  it('refuses what a later plugin changed', () => {
    const judged = podPlugin('AlwaysPullImages');
    assert.throws(
      () =>
        judged.validate?.({
          operation: 'CREATE',
          resource: { group: '', version: 'v1', resource: 'pods' },
          subresource: '',
          name: 'x',
          object: podOf(),
        } as never),
      /the image of container c must be pulled with policy "Always"/,
    );
  });
});
