import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { specAfter } from '../../../../../test/support/pod-plugins.js';

describe('LimitPodHardAntiAffinityTopology', () => {
  const terms = (...keys: string[]) => ({
    affinity: {
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: keys.map((topologyKey) => ({ topologyKey })) },
    },
  });
  it('allows nodes only', async () => {
    assert.equal(
      typeof (await specAfter('LimitPodHardAntiAffinityTopology', terms('kubernetes.io/hostname'))),
      'object',
    );
    assert.equal(
      await specAfter('LimitPodHardAntiAffinityTopology', terms('kubernetes.io/hostname', 'zone')),
      'affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
    );
  });
});
