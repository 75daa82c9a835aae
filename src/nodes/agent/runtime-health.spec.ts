import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerRuntime } from './cri/container-runtime.js';
import { RuntimeHealth } from './runtime-health.js';

describe('RuntimeHealth', () => {
  it('says that a runtime can run no pods which makes cgroups in another way', async () => {
    for (const [driver, problem] of [
      ['systemd', /makes cgroups by systemd, and this node agent by cgroupfs/],
      ['cgroupfs', /^$/],
      [undefined, /^$/],
    ] as const) {
      const health = new RuntimeHealth({
        cgroupDriver: async () => driver,
        version: async () => ({ runtimeName: 'a', runtimeVersion: '1' }),
        status: async () => ({ status: { conditions: [] } }),
        listImages: async () => [],
      } as unknown as ContainerRuntime);
      await health.look(0);
      assert.match(health.problems().join(), problem);
    }
  });
});
