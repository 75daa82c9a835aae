import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { specAfter } from '../../../../../test/support/pod-plugins.js';

describe('ExtendedResourceToleration', () => {
  it('tolerates the names of extended resources', async () => {
    const requests = {
      cpu: '1',
      'example.com/gpu': '1',
      'a.com/b': '1',
      'requests.a/b': '1',
      'x.kubernetes.io/y': '1',
    };
    const toleration = (key: string) => ({ key, operator: 'Exists', effect: 'NoSchedule' });
    const containers = [{ name: 'c', resources: { requests } }];
    const { tolerations } = await specAfter('ExtendedResourceToleration', { containers });
    assert.deepEqual(tolerations, [toleration('a.com/b'), toleration('example.com/gpu')]);
    const again = await specAfter('ExtendedResourceToleration', { containers, tolerations });
    assert.deepEqual(again.tolerations, tolerations);
    assert.equal((await specAfter('ExtendedResourceToleration', {})).tolerations, undefined);
  });
});
